"""How well trouble in coolant loops is told: simulated by their physics, judged poll by poll."""
