package detect

var (
	rakeSpec = lazy(`(?m)^\s*(task\s*\(?\s*(:spec\b|["']spec["']|spec:)|RSpec::Core::RakeTask\.new)`)
	rakeTest = lazy(
		`(?m)^\s*(task\s*\(?\s*(:test\b|["']test["']|test:)|(Rake::TestTask|Minitest::TestTask)\.(new|create)\b)`)
	gemRails   = lazy(`(?m)^\s*gem\s*\(?\s*["']rails["']`)
	gemRSpec   = lazy(`(?m)^\s*gem\s*\(?\s*["']rspec(-rails)?["']`)
	gemRubocop = lazy(`(?m)^\s*gem\s*\(?\s*["']rubocop["']`)
)

// rubyProject takes a task of rake that tests; else RSpec, or the tests of Rails.
func rubyProject(files topFiles) (d Result) {
	rake, spec := files.first("Rakefile", "rakefile", "Rakefile.rb"), files.first(".rspec", "spec")
	if !files.has("Gemfile") && rake == "" && !files.has(".rspec") {
		return d
	}
	exec := ""
	if files.has("Gemfile") {
		exec = "bundle exec "
		if files.has("Gemfile.lock") {
			d.locked("bundle install", "Gemfile.lock is there")
		} else {
			d.installs("bundle install", "Gemfile is there")
		}
	}
	switch {
	case files.has(".rubocop.yml"):
		d.soft(atLint, exec+"rubocop", ".rubocop.yml is there")
	case files.says("Gemfile", gemRubocop):
		d.soft(atLint, exec+"rubocop", "Gemfile names rubocop")
	}
	switch {
	case rake != "" && files.says(rake, rakeTest):
		d.hard(atTest, exec+"rake test", rake+" has a task test")
	case rake != "" && files.says(rake, rakeSpec):
		d.hard(atTest, exec+"rake spec", rake+" has a task spec")
	case spec == ".rspec":
		d.hard(atTest, exec+"rspec", ".rspec is there")
	case files.says("Gemfile", gemRSpec):
		d.hard(atTest, exec+"rspec", "Gemfile names rspec")
	case files.says("Gemfile", gemRails) && files.has("test"):
		d.hard(atTest, exec+"rails test", "Gemfile names rails, and test is there")
	}
	return d
}
