#pragma once

#include <string>

// greet greets somebody by name.
std::string greet(const std::string &name);
