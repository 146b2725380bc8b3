package event

import (
	"fmt"
	"slices"
	"strings"
)

// Refusal is why someone may not ask. Its text is one sentence that says what to do instead.
type Refusal struct {
	Who    string // the login that was refused; empty when it is not about a person
	Reason string
}

// RequiredActor is whom an event of a kind must come from.
type RequiredActor string

// The askers.
const (
	Writers RequiredActor = "writers" // everyone involved has write access
	Anybody RequiredActor = "anyone"  // whom GitHub lets do it, as an issue's author may close it
	NoOne   RequiredActor = "no one"  // it happens by itself: the workflow file asks, or another workflow has ended
)

// asker says who may bring an event of a kind. Closing needs no write access: work on a closed issue is never wanted,
// and stopping loses nothing. What happens by itself names no one.
func asker(kind Kind) RequiredActor {
	switch kind {
	case Closed:
		return Anybody
	case Scheduled, Built:
		return NoOne
	}
	return Writers
}

// IsRequest reports whether an event of a kind is someone's wish: it names who asked.
func IsRequest(kind Kind) bool { return asker(kind) == Writers }

// person is someone whom an event names, and what as.
type person struct {
	as    string // "sender"
	login string
}

// involved lists everyone whom an event must name; an empty login is someone whom it does not name, as of a deleted
// account.
func involved(ev Event, labeler string) []person {
	if asker(ev.Kind) != Writers {
		return nil
	}
	people := []person{{"sender", ev.Sender.Login}}
	if ev.Kind == Labeled {
		people = append(people, person{"labeler", labeler})
	}
	if ev.Comment != nil {
		people = append(people, person{"comment's author", ev.Comment.Author.Login})
	}
	if ev.Review != nil {
		people = append(people, person{"reviewer", ev.Review.Author.Login})
	}
	if ev.TriggeringActor != "" {
		people = append(people, person{"one who started the job", ev.TriggeringActor})
	}
	return people
}

// Identities lists every login that must have write access for the event to count, without repeats.
func Identities(ev Event, labeler string) []string {
	var who []string
	for _, p := range involved(ev, labeler) {
		if p.login != "" && !slices.ContainsFunc(who, func(w string) bool { return strings.EqualFold(w, p.login) }) {
			who = append(who, p.login)
		}
	}
	return who
}

// IsOwn reports whether ralph itself brought the event about, which then asks for nothing, and says so in one sentence:
// no refusal, and nothing to react to. self is the login that ralph writes as. An event that requests nothing is not its
// own, and neither is closing: a closed issue is closed.
func IsOwn(ev Event, self string) (why string, own bool) {
	if self == "" || !strings.EqualFold(ev.Sender.Login, self) || asker(ev.Kind) != Writers {
		return "", false
	}
	return ownSentence(self, ev), true
}

func ownSentence(self string, ev Event) string {
	if bot(self, ev) {
		return fmt.Sprintf("%s is ralph itself, which does not follow its own events", self)
	}
	return fmt.Sprintf("ralph acts as %s here, because the token is of that account, and it does not follow its own "+
		"events; to let %s ask, give ralph another identity: "+
		"a GitHub App (inputs app_id and app_private_key), the job's own token (github_token: ${{ github.token }}), or a token of a separate account for ralph", self, self)
}

// Authorize says whether the event's people may ask, and if not, why. It reads nothing but its arguments and fails
// closed.
func Authorize(ev Event, facts Facts, rules Rules) *Refusal {
	if asker(ev.Kind) == Anybody {
		return nil
	}
	if refusal := fromFork(ev); refusal != nil || asker(ev.Kind) == NoOne {
		return refusal
	}
	people := involved(ev, facts.Labeler)
	for _, p := range people {
		if p.login == "" {
			return unnamed(p, ev)
		}
	}
	if refusal := deputy(ev); refusal != nil {
		return refusal
	}
	for _, p := range people {
		if refusal := facts.refuse(p.login, ev, rules); refusal != nil {
			return refusal
		}
	}
	return nil
}

// AuthorizeEdit says whether what someone has made of a comment of ralph's counts, and if not, why. It takes what
// asking takes, and fails closed: an editor who is not known is no one.
func AuthorizeEdit(editor Actor, facts Facts, rules Rules) *Refusal {
	switch {
	case editor.Login == "":
		return &Refusal{Reason: "the last editor is not known (the account may have been deleted), so the edit cannot be authorized; someone with write access must edit it again"}
	case strings.EqualFold(editor.Login, facts.Self):
		return &Refusal{Who: editor.Login, Reason: fmt.Sprintf("%s edited it, but ralph did not: another workflow writes as that account, too; someone with write access must edit it again", editor.Login)}
	}
	return facts.refuse(editor.Login, Event{Sender: editor}, rules)
}

// fromFork refuses what is about another repository's code.
func fromFork(ev Event) *Refusal {
	switch {
	case ev.Issue != nil && ev.Issue.Pull && ev.Issue.Fork:
		return &Refusal{Reason: "this pull request comes from a fork, whose code must not meet this repository's secrets; " +
			"open an issue here and ask ralph there, or push the branch to this repository"}
	case ev.Kind == Built && (ev.Build == nil || ev.Build.Fork):
		return &Refusal{Reason: "the commit is in a fork, whose code must not meet this repository's secrets; ralph looks " +
			"only at what runs on branches of this repository"}
	}
	return nil
}

// unnamed refuses what does not say who is behind it.
func unnamed(p person, ev Event) *Refusal {
	if p.as == "labeler" {
		return &Refusal{Who: ev.Sender.Login,
			Reason: "the user who added the label could not be read from the issue's event log; remove the label and add it again"}
	}
	return &Refusal{Reason: fmt.Sprintf("the event names no %s (the account may have been deleted), so the request cannot be authorized; someone with write access must ask again", p.as)}
}

// deputy refuses words that someone else sent than wrote them: a bot that is made to speak for a stranger is still the
// stranger.
func deputy(ev Event) *Refusal {
	as, writer := "comment's author", ev.Sender.Login
	switch {
	case ev.Comment != nil:
		writer = ev.Comment.Author.Login
	case ev.Review != nil:
		as, writer = "reviewer", ev.Review.Author.Login
	}
	if strings.EqualFold(writer, ev.Sender.Login) {
		return nil
	}
	return &Refusal{Who: writer, Reason: fmt.Sprintf("the %s is %s, but %s sent the event; ralph rejects requests posted on behalf of another user: %s must write the comment",
		as, writer, ev.Sender.Login, ev.Sender.Login)}
}

// refuse says why one login may not ask; nil when it may.
func (f Facts) refuse(login string, ev Event, rules Rules) *Refusal {
	p, looked := f.Permissions[strings.ToLower(login)]
	why := ""
	switch {
	case strings.EqualFold(login, f.Self):
		why = ownSentence(login, ev)
	case bot(login, ev) && slices.ContainsFunc(rules.AllowedBots,
		func(b string) bool { return strings.EqualFold(b, login) }):
		return nil
	case bot(login, ev):
		why = fmt.Sprintf("%s is a bot that is not listed in allowed_bots; add its exact login there to let it ask", login)
	case !looked:
		why = fmt.Sprintf("%s's permission was not read; ask again", login)
	case p.Err != nil:
		why = fmt.Sprintf("%s's permission could not be looked up (%v); try again, or give the token read access to the "+
			"repository's metadata", login, p.Err)
	case !p.writes():
		why = fmt.Sprintf("%s has %s here; a request needs write, maintain or admin, so someone with that permission must ask",
			login, p.said())
	default:
		return nil
	}
	return &Refusal{Who: login, Reason: why}
}

// said names a permission for a sentence.
func (p Permission) said() string {
	level := p.Level
	if level == "" || level == "none" {
		level = "no"
	}
	if p.Role == "" || strings.EqualFold(p.Role, p.Level) {
		return level + " permission"
	}
	return fmt.Sprintf("%s permission (by the role %s)", level, quote(p.Role))
}

// bot reports whether login acted as a bot. The type in the payload decides, and a [bot] suffix makes one too: a suffix
// only ever takes rights away, it never gives any.
func bot(login string, ev Event) bool {
	if strings.HasSuffix(strings.ToLower(login), "[bot]") {
		return true
	}
	actors := []Actor{ev.Sender}
	if ev.Comment != nil {
		actors = append(actors, ev.Comment.Author)
	}
	if ev.Review != nil {
		actors = append(actors, ev.Review.Author)
	}
	return slices.ContainsFunc(actors, func(a Actor) bool { return a.Bot && strings.EqualFold(a.Login, login) })
}
