#include "greet.h"

std::string greet(const std::string &name) { return "Hello, " + name + "!"; }
