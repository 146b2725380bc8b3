#include "greet.h"

#include <iostream>

int main() {
  const std::string got = greet("Ada");
  if (got != "Hello, Ada!") {
    std::cerr << "FAIL: greet(Ada) is " << got << '\n';
    return 1;
  }
  std::cout << "ok\n";
}
