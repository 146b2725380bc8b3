package gateway

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Price is what a million tokens of each kind cost, in dollars.
type Price struct {
	Input      float64 `json:"input"`
	CacheRead  float64 `json:"cached"`
	CacheWrite float64 `json:"cacheWrite"` // kept for five minutes; one kept for an hour costs twice the input
	Output     float64 `json:"output"`
	Long       int64   `json:"long"` // a request of more tokens costs more, see of; 0: none does
}

// of is the price of a request that has so many tokens: a long one costs twice as much to read, and half as much again
// to answer, with every provider that asks for more.
func (p Price) of(tokens int64) Price {
	if p.Long > 0 && tokens > p.Long {
		p.Input, p.CacheRead, p.CacheWrite, p.Output = 2*p.Input, 2*p.CacheRead, 2*p.CacheWrite, 1.5*p.Output
	}
	return p
}

// Prices are what models cost. The zero value is List.
type Prices struct {
	Date   string           // of the list, "2006-01"
	Models map[string]Price // by name, without a date or "latest" at its end
	Own    map[string]Price // the same, as set by the user; they go before Models
}

//go:embed prices.json
var listFile []byte

// List are the public list prices that ralph brings along. What someone really pays may be less. The file has the form
// of the setting prices, which can be set from a newer one.
var List = sync.OnceValue(func() Prices {
	var list struct {
		Date   string `json:"date"`
		Prices []struct {
			Model string `json:"model"`
			Price
		} `json:"prices"`
	}
	if err := json.Unmarshal(listFile, &list); err != nil {
		panic("gateway: prices.json: " + err.Error()) // a test reads it
	}
	p := Prices{Date: list.Date, Models: map[string]Price{}}
	for _, row := range list.Prices {
		p.Models[row.Model] = row.Price
	}
	return p
})

// edition is what may follow a model's name without making it another model: a date, a number of three digits, a word.
// A single digit is a version: claude-opus-4-1 is not claude-opus-4.
var edition = regex.Lazy(`^([-@]([0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}-[0-9]{2,4}|[0-9]{3}|latest|preview|exp))*$`)

// Of is the price of a model, by the longest name that it begins with; false: no one knows it.
func (p Prices) Of(model string) (Price, bool) {
	if p.Models == nil {
		p.Models = List().Models
	}
	for _, list := range []map[string]Price{p.Own, p.Models} {
		if price, ok := in(list, model); ok {
			return price, true
		}
	}
	return Price{}, false
}

func in(list map[string]Price, model string) (Price, bool) {
	if price, ok := list[model]; ok {
		return price, true
	}
	model = model[strings.LastIndexByte(model, '/')+1:]
	longest := ""
	for name := range list {
		if rest, ok := strings.CutPrefix(model, name); ok && len(name) > len(longest) && edition.MatchString(rest) {
			longest = name
		}
	}
	return list[longest], longest != ""
}
