"""Several jobs that answer one question: diagnosis and its report, experiments, monitors of drift."""
