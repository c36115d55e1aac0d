"""TensorBoard, W&B, SwanLab, trackio and standard output: reading what trainers logged, and writing what the board computes.

Each tracker is one small module with the same three functions (`contract`). Imports schema and errors alone, so that the recorder,
which lives in a trainer's process, can use it.
"""
