"""One module per trainer's dump, each recognising its files and mapping a record to rollouts. Files may come; names and shapes are known here."""
