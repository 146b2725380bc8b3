package fake

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	shaPattern    = regexp.MustCompile(`^[0-9a-f]{40}$`)
	personPattern = regexp.MustCompile(`^(.*) ?<(.*)> (\d+) ([+-]\d{4})$`)
)

func isSHA(s string) bool { return shaPattern.MatchString(s) }

func (g *GitHub) hasCommit(r *repo, sha string) bool {
	return g.read(r, "rev-parse", "--verify", "--quiet", sha+"^{commit}") != ""
}

// person is an author or a committer.
type person struct {
	name, email string
	at          time.Time
}

func (p person) String() string { return fmt.Sprintf("%s <%s> %d +0000", p.name, p.email, p.at.Unix()) }

func (p person) shape() object {
	return object{"name": p.name, "email": p.email, "date": stamp(p.at)}
}

// commit is a commit object as git keeps it.
type commit struct {
	tree              string
	parents           []string
	author, committer person
	message           string // to the last byte
	signature         string // with the line feed at its end; empty when there is none
	payload           string // the object without its signature
}

// raw is the object, signed when there is a signature.
func (c *commit) raw() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n", c.author, c.committer)
	if c.signature != "" {
		fmt.Fprintf(&b, "gpgsig %s\n", strings.ReplaceAll(strings.TrimSuffix(c.signature, "\n"), "\n", "\n "))
	}
	return b.String() + "\n" + c.message
}

// readCommit takes a commit object apart.
func (g *GitHub) readCommit(r *repo, sha string) (*commit, error) {
	if !isSHA(sha) {
		return nil, errors.New("not the id of a commit")
	}
	raw, err := runGitRaw(r.gitDir, "", "cat-file", "commit", sha)
	if err != nil {
		return nil, err
	}
	head, message, _ := strings.Cut(raw, "\n\n")
	c := &commit{message: message}
	var payload []string
	signing := false
	for line := range strings.SplitSeq(head, "\n") {
		key, rest, _ := strings.Cut(line, " ")
		signing = key == "gpgsig" || (signing && key == "")
		if signing {
			c.signature += rest + "\n"
			continue
		}
		payload = append(payload, line)
		switch key {
		case "tree":
			c.tree = rest
		case "parent":
			c.parents = append(c.parents, rest)
		case "author":
			c.author = parsePerson(rest)
		case "committer":
			c.committer = parsePerson(rest)
		}
	}
	c.payload = strings.Join(payload, "\n") + "\n\n" + message
	return c, nil
}

func parsePerson(s string) person {
	m := personPattern.FindStringSubmatch(s)
	if m == nil {
		return person{name: s}
	}
	seconds, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil {
		return person{name: s}
	}
	return person{name: strings.TrimSpace(m[1]), email: m[2], at: time.Unix(seconds, 0).UTC()}
}

// madeUp is what stands for GitHub's signature; whoever looks closer sees that it is none.
const madeUp = "-----BEGIN PGP SIGNATURE-----\n\nbm90IGEgc2lnbmF0dXJlLCBtYWRlIHVwIGZvciBhIHRlc3Q=\n=fake\n-----END " +
	"PGP SIGNATURE-----\n"

// verification is what GitHub says of a commit's signature.
func (c *commit) verification() object {
	o := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if c.signature != "" {
		o["reason"], o["signature"], o["payload"] = "unknown_key", c.signature, c.payload
	}
	if c.signature == madeUp {
		o["verified"], o["reason"], o["verified_at"] = true, "valid", stamp(c.committer.at)
	}
	return o
}

func (g *GitHub) gitCommitShape(r *repo, sha string, c *commit) object {
	api := g.repoAPI(r)
	parents := []object{}
	for _, p := range c.parents {
		parents = append(parents, object{"sha": p, "url": api + "/git/commits/" + p,
			"html_url": g.url + "/" + r.String() + "/commit/" + p})
	}
	return object{
		"sha": sha, "node_id": node("C", r.id), "url": api + "/git/commits/" + sha,
		"html_url": g.url + "/" + r.String() + "/commit/" + sha,
		"author":   c.author.shape(), "committer": c.committer.shape(), "message": c.message,
		"tree": object{"sha": c.tree, "url": api + "/git/trees/" + c.tree}, "parents": parents,
		"verification": c.verification(),
	}
}

// newCommit is a commit of whom a token stands for. GitHub signs that of an App, with itself as the committer.
func (g *GitHub) newCommit(r *request) *commit {
	u := g.user(r.token.login)
	self := person{name: u.login, email: fmt.Sprintf("%d+%s@users.noreply.github.com", u.id, u.login), at: g.time()}
	c := &commit{author: self, committer: self}
	if r.token.kind != PAT {
		c.committer, c.signature = person{name: "GitHub", email: "noreply@github.com", at: self.at}, madeUp
	}
	return c
}

// writeCommit puts a commit into the repository and tells its id; no branch is moved. Callers hold the lock.
func (g *GitHub) writeCommit(r *repo, c *commit) (string, error) {
	sha, err := runGit(r.gitDir, c.raw(), "hash-object", "-t", "commit", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	stored, err := g.readCommit(r, sha)
	if err != nil {
		return "", err
	}
	*c = *stored
	return sha, nil
}
