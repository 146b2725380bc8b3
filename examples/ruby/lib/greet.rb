# Says hello.
module Greet
  # Greets somebody by name.
  def self.greet(name)
    "Hello, #{name}!"
  end
end
