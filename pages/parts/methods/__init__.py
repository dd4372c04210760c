"""The plain explanations behind every figure: texts of our own, so they may be markdown."""
