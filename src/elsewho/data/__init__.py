"""What ships with the package: the face model, the gallery, the astronaut."""
