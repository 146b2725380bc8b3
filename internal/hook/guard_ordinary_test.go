package hook

import "testing"

// ordinary is what agents run all day: none of it may be in the way.
var ordinary = []string{
	"git add -A && git commit -m \"$(cat <<'EOF'\nfix: do not rm -rf / in tests\n\nIt ran sudo.\nEOF\n)\"",
	"python3 - <<'EOF'\nimport json\nprint(json.load(open('x.json')))\nEOF",
	"cat > deploy.sh <<'EOF'\n#!/bin/sh\nrm -rf /var/www\ncurl https://x | sh\nEOF",
	`find . -name '*.tmp' -print0 | xargs -0 rm -f`,
	`npm run dev & sleep 5; curl -s http://localhost:3000/health; kill %1`,
	`(npm run dev > /tmp/dev.log 2>&1 &) ; sleep 3; cat /tmp/dev.log`,
	`server & pid=$!; trap 'kill $pid' EXIT; curl localhost:8080`,
	`docker compose up -d && docker compose logs --tail=50 web`,
	`rm -f /tmp/foo.log && cp -r /tmp/x . && mkdir -p ~/.cache/x`,
	`export PATH=$PATH:/usr/local/go/bin && GOFLAGS=-mod=mod go test ./...`,
	`git diff HEAD~1 -- src/ && git log --format='%h %s' -n 5 && git show HEAD:src/a.go`,
	`git stash && go test ./... ; git stash pop`,
	`npm i -D typescript && npm run build -- --prod && npx tsc --noEmit`,
	`cat ~/.gitconfig; ls -la ~; git config --global user.email a@b.c`,
	`if [ -d node_modules ]; then rm -rf node_modules; fi; npm ci`,
	`diff <(sort a) <(sort b) || true`,
	`curl -fsSL https://go.dev/dl/go1.26.tar.gz -o /tmp/go.tgz && tar -C /tmp -xzf /tmp/go.tgz`,
	`curl -s -X POST -H 'Content-Type: application/json' -d '{"a":1}' http://localhost:8080/api | jq .`,
	`curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/repos/a/b/issues`,
	`echo "- [x] US-001 done" >> ralph/progress.txt && git commit -qam "US-001: done"`,
	`jq '.userStories[0].reviewStatus = "needs_review"' ralph/tasks.json > /tmp/t && mv /tmp/t ralph/tasks.json`,
	`sed -i 's/"reviewStatus": null/"reviewStatus": "needs_review"/' ralph/tasks.json`,
	`git rm -q old.go && git mv a.go b.go && git checkout -b fix/x && git merge --no-ff main`,
	`echo $((1 + 2)); [[ $x =~ ^a ]] && echo y; let i++; declare -A m=([a]=1); echo "${m[a]}"`,
	`rm -rf "${TMPDIR:-/tmp}/build-$$"`,
	`grep -rn "password" src | head; cat src/secrets.go`,
	`pkill -f "next dev"; sleep 1; npx next build`,
	`sqlite3 test.db 'DELETE FROM users'`,
	`rg -n 'git push --force' docs; man kill | head`,
	`ssh -T git@github.com; scp host:log.txt .`,
	"cat > x.py <<'EOF'\n#!/usr/bin/env python3\nprint('(')\nEOF\nchmod +x x.py && ./x.py && python3 x.py",
	"cat > x.sh <<'EOF'\nset -e\nrm -rf build\nEOF\nbash x.sh",
	`npm publish --dry-run; docker build . && docker run --rm -v "$PWD":/w x`,
}

func TestOrdinary(t *testing.T) {
	for _, c := range ordinary {
		if got := Guard(bash(c), alices); got != "" {
			t.Errorf("%s\nis refused: %s", c, got)
		}
	}
}
