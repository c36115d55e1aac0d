"""A small frame to ask queries of."""

import numpy as np
import pandas as pd

FRAME = pd.DataFrame(
    {
        "step": np.repeat(np.arange(3), 4),
        "data_source": pd.Categorical(["math", "code", "math", None] * 3),
        "reward": [1.0, 2.0, 3.0, np.nan] * 3,
        "length": np.arange(12.0),
    }
)
