#!/bin/sh
# What make recording records: somebody types three commands, and a scripted agent needs two tries. RALPH is the program.
set -eu
where=$(mktemp -d)
trap 'rm -rf "$where"' EXIT
ln -s "$RALPH" "$where/ralph"
HOME=$where/home PATH=$where:$PATH GIT_PAGER=cat
export HOME PATH GIT_PAGER
unset XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_HOME RALPH_SANDBOX
mkdir -p "$HOME" "$where/greet"
cd "$where/greet"
git config --global user.name Alice
git config --global user.email alice@example.com
git config --global init.defaultBranch main
git config --global advice.detachedHead false

printf 'greet() { echo "Hello, $1!"; }\n' >greet.sh
cat >Makefile <<'EOF'
test:
	@. ./greet.sh; test "$$(greet)" = "Hello, world!" || { echo "FAIL: greet says $$(greet)"; exit 1; }
EOF
printf '# Greet the world\n\nWithout a name, greet the world.\n\n## Acceptance criteria\n\n- greet prints "Hello, world!"\n' >issue.md
cat >"$where/coder" <<'EOF'
#!/bin/sh
say() { echo "$1" && sleep 1; }
case $(cat) in
*'# Review'*)
	say 'Reading the change. An empty name is the world, as the issue asks.'
	echo '{"verdict":"approve","tree":"'"$(git rev-parse 'HEAD^{tree}')"'","summary":"It does what the issue asks.","issues":[]}'
	;;
*'greet says Hello, World!'*)
	say 'The test wants a small w. I change that.'
	echo 'greet() { echo "Hello, ${1:-world}!"; }' >greet.sh
	say 'Now it holds. <response>DONE</response>'
	;;
*)
	say 'I read greet.sh: an empty name is not looked at.'
	say 'I write: ${1:-World}'
	echo 'greet() { echo "Hello, ${1:-World}!"; }' >greet.sh
	say 'I am done. <response>DONE</response>'
	;;
esac
EOF
chmod +x "$where/coder"
git init --quiet
git add .
git commit --quiet --message 'Greet by name'

# show types a command and runs it.
show() {
	printf '\033[1;32m$\033[0m '
	printf '%s\n' "$1" | fold -w 1 | while IFS= read -r letter; do
		printf '%s' "$letter"
		sleep 0.03
	done
	echo
	sleep 0.4
	eval "$1"
	sleep 1
}
show 'cat issue.md'
show 'ralph run --issue issue.md --agent coder'
show 'git log --oneline --all'
printf '\033[1;32m$\033[0m '
sleep 4 # so that it can be read before it begins again
printf ' '
