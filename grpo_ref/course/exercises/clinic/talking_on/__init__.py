"""Exercise clinic/talking_on."""
