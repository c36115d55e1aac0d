"""What is computed of single rollouts and of the groups they stand in."""
