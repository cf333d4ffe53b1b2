package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// Calls returns the names of the steps in order, including repeated steps. It replaces each
// synthesized name by the pattern that it represents.
func (r *Remedy) Calls() []string {
	return list.Map(r.Steps.Calls(), func(name string) string { return cmp.Or(r.madeUp[name], name) })
}

// OwnToolMay tells the client that no call to a server's tool makes the refused call possible, but
// that a call to one of the agent's own tools might.
const OwnToolMay = "No call to a server's tool changes that; a call to one of the agent's own tools may."

// Sentence returns a sentence telling a model how to proceed after tool was refused, or "" if no
// remedy is known.
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

// step returns a phrase that tells the model to make the call in step i the given number of times.
func (r *Remedy) step(i, times int) string {
	s := &r.Steps[i]
	said, pattern := quoted(s.Tool), r.madeUp[s.Tool]
	if pattern != "" {
		said = "a tool that matches " + quoted(pattern)
	}
	if s.Args != "" {
		said += " with " + r.argsText(i)
	}
	if pattern == "" && s.Name != s.Tool {
		said += " (" + s.Name + ")"
	}
	if s.Result != "" {
		said += ", with a result like " + s.Result
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

// argsText returns the arguments of step i as text, with invisible characters escaped. If they
// contain key values, argsText prefers a list of names and values to JSON.
func (r *Remedy) argsText(i int) string {
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
