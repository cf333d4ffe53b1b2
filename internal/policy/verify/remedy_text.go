package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// Calls are the names of the steps, those that are made several times so many
// times. Where any tool does that a pattern matches it is the pattern.
func (r *Remedy) Calls() []string {
	names := r.Steps.Calls()
	for i, name := range names {
		names[i] = cmp.Or(r.madeUp[name], name)
	}
	return names
}

// OwnToolMay is what a client is told where no tool of a server is the way out, and a tool that
// an agent has of its own may be.
const OwnToolMay = "No call of a server's tool changes that; one of a tool that the agent has of its own may."

// Sentence tells a model what to do about the refusal of tool; it is empty
// where nothing is known.
func (r *Remedy) Sentence(tool string) string {
	switch {
	case r.None && r.Shared:
		return "No other call changes that."
	case r.None:
		return "No other call changes that in this session."
	case !r.Found:
		return ""
	case len(r.Steps) == 0:
		return fmt.Sprintf("Call %s again: it is possible now.", quoted(tool))
	}
	var parts []string
	for i := 0; i < len(r.Steps); {
		same := 1
		for i+same < len(r.Steps) && r.Steps[i+same].Tool == r.Steps[i].Tool && r.Steps[i+same].Args == r.Steps[i].Args && r.Asks[i+same] == 0 {
			same++
		}
		parts = append(parts, r.step(i, same))
		i += same
	}
	after := ""
	if n := r.Asks[len(r.Steps)]; n > 0 {
		after = ", if " + text.People(n, "agrees", "agree")
	}
	return fmt.Sprintf("Way out: call %s; after that %s is allowed%s.", strings.Join(parts, ", then "), quoted(tool), after)
}

// step is one call as a model can make it, and how often.
func (r *Remedy) step(i, times int) string {
	s := &r.Steps[i]
	said := quoted(s.Name)
	if pattern := r.madeUp[s.Tool]; pattern != "" {
		said = "a tool that matches " + quoted(pattern)
		if s.Args != "" {
			said += " with " + r.written(i)
		}
	} else if s.Name != s.Tool || s.Args != "" {
		said = quoted(s.Tool)
		if s.Args != "" {
			said += " with " + r.written(i)
		}
		if s.Name != s.Tool {
			said += " (" + s.Name + ")"
		}
	}
	if s.Result != "" {
		said += ", of which the result has to be like " + s.Result
	}
	if times > 1 {
		said += fmt.Sprintf(" %d times", times)
	}
	if n := r.Asks[i]; n > 0 {
		said += ", which " + text.People(n, "has", "have") + " to approve"
	}
	return said
}

func quoted(name string) string { return "`" + name + "`" }

// written are the arguments of a step: values of keys as a person would say them, with
// escapes for what cannot be seen.
func (r *Remedy) written(i int) string {
	s := &r.Steps[i]
	var members map[string]json.RawMessage
	if !r.valued[i] || json.Unmarshal([]byte(s.Args), &members) != nil {
		return string(text.EscapeJSON([]byte(s.Args)))
	}
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(members)) {
		value := members[field]
		switch value[0] {
		case '{', '[', 'n':
			return string(text.EscapeJSON([]byte(s.Args)))
		case '"':
			plain, _ := rawjson.String(value)
			value = rawjson.AppendString(nil, plain)
		}
		parts = append(parts, field+" "+string(text.EscapeJSON(value)))
	}
	return strings.Join(parts, " and ")
}
