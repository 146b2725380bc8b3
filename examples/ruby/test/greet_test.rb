require 'minitest/autorun'
require 'greet'

class GreetTest < Minitest::Test
  def test_greets_by_name
    assert_equal 'Hello, Ada!', Greet.greet('Ada')
  end
end
