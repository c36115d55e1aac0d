"""Rewards: curves and distributions of the reward."""
