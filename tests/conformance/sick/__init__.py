"""What makes a detector speak: one recipe a detector, under the detector's file name."""
