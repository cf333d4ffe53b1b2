package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// hooks holds the validators of a hand-written net, which judge calls, and its memories, which
// record values when calls succeed.
type hooks struct {
	validators []validator
	memories   []memory
}

type validator struct {
	tools   []string
	require *cel.Condition
	reason  *cel.Template // template of the reason given for a refusal; if nil, a generic reason is given
	source  string
}

type memory struct {
	transition string
	observes   bool
	set        string
	to         *cel.Value
}

// forgotten is a reserved key among the values that a net remembers. It is set if the net failed to
// remember a value. Once it is set, validators that use remembered values refuse every call.
const forgotten = config.Reserved + "forgotten"

// hooks compiles the net's validators and memories.
func (r *netReader) hooks(n *config.Net, out *gate.Net) {
	if len(n.Validate) == 0 && len(n.Remember) == 0 {
		return
	}
	remembered := list.Map(n.Remember, func(m config.Memory) string { return m.Set })
	names := &cel.Names{Places: n.Places, Remembered: append([]string{}, remembered...)}
	h := &hooks{
		validators: list.Map(n.Validate, func(v config.Validator) validator { return r.validator(n, v, names) }),
		memories:   list.Map(n.Remember, func(m config.Memory) memory { return r.memory(n, m, names) }),
	}
	out.Validate, out.Identity = h.validate, identity(n)
	if len(h.memories) > 0 {
		out.OnSuccess = h.remember
	}
}

func (r *netReader) validator(n *config.Net, v config.Validator, names *cel.Names) validator {
	out := validator{tools: v.Tools, source: v.Require.Text}
	var err error
	out.require, err = r.compiler().Condition(v.Require.Text, names)
	r.inExpression(n, v.Require, err)
	if v.Reason.Text != "" {
		out.reason, err = r.compiler().Template(v.Reason.Text, names)
		r.inExpression(n, v.Reason, err)
	}
	return out
}

func (r *netReader) memory(n *config.Net, m config.Memory, names *cel.Names) memory {
	out := memory{transition: m.Transition, set: m.Set}
	for _, t := range n.Transitions {
		out.observes = out.observes || t.Name == m.Transition && t.Observe
	}
	var err error
	out.to, err = r.compiler().Value(m.To.Text, names)
	r.inExpression(n, m.To, err)
	return out
}

// compiler returns the CEL compiler, creating it on first use.
func (r *netReader) compiler() *cel.Compiler {
	if r.cel == nil {
		r.cel = cel.NewCompiler()
	}
	return r.cel
}

// inExpression adds the errors in an expression to the problems of net n, each at its position in
// the file.
func (r *netReader) inExpression(n *config.Net, e config.Expression, err error) {
	var list diag.List
	errors.As(err, &list)
	for _, bad := range list {
		p := problem(diag.Error, BadExpression, position(e.Position(bad.Line, bad.Column)), bad.Msg, bad.Hint)
		p.Excerpt = e.Excerpt(bad.Line, bad.Column)
		r.inNet(n, p)
	}
}

// identity returns the net's [gate.Net.Identity]: the source text of its validators and memories,
// without the reasons given for refusals.
func identity(n *config.Net) string {
	var s strings.Builder
	for _, v := range n.Validate {
		fmt.Fprintf(&s, "validate %q %q\n", v.Tools, v.Require.Text)
	}
	for _, m := range n.Remember {
		fmt.Fprintf(&s, "remember %q %q %q\n", m.Transition, m.Set, m.To.Text)
	}
	return s.String()
}

// validate is the net's [gate.Net.Validate] function. It runs the validators under each name of the
// call. It also checks that the net can compute the values that it must remember if the call
// succeeds.
func (h *hooks) validate(f gate.Firing) error {
	in := cel.NewInput(f)
	for i := range h.validators {
		v := &h.validators[i]
		for _, name := range v.tools {
			if name != f.Name && !slices.Contains(f.Names, name) {
				continue
			}
			if err := v.judge(in.Named(name), f.Meta); err != nil {
				return err
			}
		}
	}
	return h.checkRememberable(f.Transition, in)
}

// judge checks a call against a single requirement of a validator. A requirement that cannot be
// evaluated is not met.
func (v *validator) judge(in *cel.Input, meta gate.Meta) error {
	if _, ok := meta[forgotten]; ok && v.require.Uses("meta") {
		return objectionf("The call depends on a value that the net could not remember: %v.", meta[forgotten])
	}
	holds, err := v.require.Holds(in)
	var unreadable *cel.Unreadable
	switch {
	case err == nil && holds:
		return nil
	case errors.As(err, &unreadable):
		return objectionf("The call cannot be judged: %v.", err)
	case v.reason != nil:
		return objectionf("%s", v.reason.Text(in))
	case err != nil:
		return objectionf("The call violates %q: %v.", v.source, err)
	default:
		return objectionf("The call violates %q.", v.source)
	}
}

// An objection is an error with a message for the caller of the tool.
type objection string

// Error returns the message for the caller.
func (o objection) Error() string { return string(o) }

func objectionf(format string, args ...any) error { return objection(fmt.Sprintf(format, args...)) }

// checkRememberable returns an error if a value that the net must remember after the call cannot be
// computed. It skips values that depend on the result of the call, because the result is not known
// yet. It also skips transitions that only observe, because they must not refuse calls.
func (h *hooks) checkRememberable(transition string, in *cel.Input) error {
	for _, m := range h.memories {
		if m.transition != transition || m.observes || m.to.Uses("result") {
			continue // before the call, the result is unknown
		}
		if _, err := m.to.Of(in); err != nil {
			return objectionf("The success of the call could not be remembered as %q: %v.", m.set, err)
		}
	}
	return nil
}

// remember is the net's [gate.Net.OnSuccess] function. It computes all values from the previous
// state before setting any of them.
func (h *hooks) remember(f gate.Firing) {
	in := cel.NewInput(f)
	set := make(map[string]any)
	for _, m := range h.memories {
		if m.transition != f.Transition {
			continue
		}
		v, err := m.to.Of(in)
		if err != nil {
			set[forgotten] = fmt.Sprintf("%s: %v", m.set, err)
			continue
		}
		set[m.set] = v
	}
	maps.Copy(f.Meta, set)
}
