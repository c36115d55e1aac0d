"""What a run says: frames in, frames out: selection, steps, segments, distributions, alternatives. Reads no file and draws nothing."""
