package proxy

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// What clients can do of what upstreams ask of them, as they have declared it.

// relayed is what the client declared of what an upstream of the older era may
// use through us.
func (a agent) relayed() []byte {
	if a.modern {
		return relayedCapabilities(a.capabilities)
	}
	if a.capabilities == nil {
		return []byte(`{}`)
	}
	return a.capabilities
}

// relayedNow is relayed for an upstream of the newer era, in which clients make
// no tasks.
func (a agent) relayedNow() []byte {
	if a.newer != nil {
		return a.newer
	}
	return a.relayed()
}

// relayedCapabilities are the members of a client's capabilities that an
// upstream may use through us in either era.
func relayedCapabilities(capabilities []byte) []byte {
	b := []byte{'{'}
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		value, ok := rawjson.Member(capabilities, name)
		if !ok || rawjson.Kind(value) != '{' {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, '"'), name...), `":`...), value...)
	}
	return append(b, '}')
}

// declared notes the capabilities of a client with a handshake of that revision.
func (a *agent) declared(capabilities []byte) {
	a.elicit, a.capabilities, a.newer = canElicit(capabilities), relayedCapabilities(capabilities), nil
	if tasks := relayedTasks(capabilities); tasks != nil && a.protocol >= tasksSince {
		a.newer = a.capabilities
		a.capabilities = wire.AppendStamped(nil, a.newer, append([]byte(`"tasks":`), tasks...))
	}
}

// relayedTasks is what capabilities say of tasks that a client makes of what it
// is asked, as far as that can be had through us; nil: it makes none.
func relayedTasks(capabilities []byte) []byte {
	var kinds []byte
	for _, kind := range [...][2]string{{"sampling", "createMessage"}, {"elicitation", "create"}} {
		if value, ok := within(capabilities, "tasks", "requests", kind[0], kind[1]); ok && rawjson.Kind(value) == '{' && declares(capabilities, kind[0]) {
			kinds = append(append(append(kinds, `,"`+kind[0]+`":{"`+kind[1]+`":`...), value...), '}')
		}
	}
	if kinds == nil {
		return nil
	}
	b := []byte{'{'}
	for _, what := range [...]string{"list", "cancel"} {
		if value, ok := within(capabilities, "tasks", what); ok && rawjson.Kind(value) == '{' {
			b = append(append(append(b, `"`+what+`":`...), value...), ',')
		}
	}
	return append(append(append(b, `"requests":{`...), kinds[1:]...), `}}`...)
}

// makesTasks reports whether the client makes a task of a request if it is asked
// to, and errandsCan whether it can do something with such tasks.
func (a agent) makesTasks(method string) bool { return !a.modern && taskMaking(a.capabilities, method) }

func (a agent) errandsCan(what string) bool {
	return !a.modern && declares(a.capabilities, "tasks", what)
}

// taskMaking reports whether capabilities of clients have tasks of a method.
func taskMaking(capabilities []byte, method string) bool {
	switch method {
	case "sampling/createMessage":
		return declares(capabilities, "tasks", "requests", "sampling", "createMessage")
	case "elicitation/create":
		return declares(capabilities, "tasks", "requests", "elicitation", "create")
	}
	return false
}

// canElicit reports whether capabilities allow a form: elicitation as it was
// first defined, or with a member form.
func canElicit(capabilities []byte) bool {
	e, ok := rawjson.Member(capabilities, "elicitation")
	if !ok || rawjson.Kind(e) != '{' {
		return false
	}
	if _, form := rawjson.Member(e, "form"); form {
		return true
	}
	_, url := rawjson.Member(e, "url")
	return !url
}
