package gate

import (
	"bytes"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// PolicyOptions are options that apply to all nets of a policy. The zero value is ready to use.
type PolicyOptions struct {
	Deny   bool // whether to refuse calls that no active net gates or explicitly allows ("default: deny"); nets in shadow mode are ignored unless the option Shadow is set
	Shadow bool // whether to put all nets, and Deny, in shadow mode
	Static bool // whether to forbid switching nets on or off at run time

	// AskDoubts makes the policy ask a person about a call that is blocked only because it is
	// uncertain whether the call has some name; see [Block.Doubt]. If the person approves, the
	// policy decides on the call as if it did not have this name.
	AskDoubts bool

	// Labels lists labels (names for calls, and conditions on results) in addition to those of the
	// nets. Set it if callers ask for the names of calls but no net has labels.
	Labels []*Labels

	// Keys is the maximum number of key values that a net tracks separately. A call that would add
	// another value is refused. 0 means 10,000.
	Keys int

	// Ignored lists arguments that do not matter when calls are compared. A net that counts
	// consecutive identical calls treats calls that differ only in these arguments as identical. An
	// approval also applies to a call that differs from the approved call only in these arguments.
	Ignored []Ignored
}

// defaultKeys is the default for [PolicyOptions.Keys].
const defaultKeys = 10_000

// Policy is an immutable set of nets that decide together. It is safe for concurrent use.
type Policy struct {
	netTable
	deny   bool
	shadow bool // whether the whole policy is in shadow mode
	static bool // whether switching nets at run time is forbidden
	asks   bool // whether to ask a person about uncertain names; see [PolicyOptions.AskDoubts]
	print  string
	parts  []part // for each command of at least three words that a net waits for, its first two words

	netKeys
	maxValues int // maximum number of key values per net
	givenMax  int // PolicyOptions.Keys as given; 0 means the default

	ignored ignoredArguments

	labels    []*Labels   // the labels of the nets and of the options, without duplicates
	successes []Condition // conditions on results, collected from the labels
	names     *naming.Naming
	ids       func() []NetID
	index     listing.Index // finds the nets that might apply to a call
}

// netTable holds the nets of a policy, in order and by name.
type netTable struct {
	nets   []*net
	byName map[string]*net
	merged []Merge

	timed    []int           // nets that the clock alone can change
	rows     bool            // whether any net counts consecutive identical calls
	advisory bool            // whether any net is advisory
	awaits   map[string]bool // names of the calls whose success at least one net waits for
}

// A Merge describes a statement in the rules that repeats an earlier statement. Both statements
// produce a single net, so they share one budget.
type Merge struct {
	Net          string
	First, Again Position
}

// Maps returns the [Map] entries of the policy, in order.
func (p *Policy) Maps() []Map {
	return list.FlatMap(p.labels, func(l *Labels) []Map { return l.Maps })
}

// Options returns the policy's options, including all labels. They can be used to build a policy
// from a subset of its nets.
func (p *Policy) Options() PolicyOptions {
	return PolicyOptions{AskDoubts: p.asks, Deny: p.deny, Shadow: p.shadow, Static: p.static, Labels: slices.Clone(p.labels), Keys: p.givenMax, Ignored: slices.Clone(p.ignored.given)}
}

// Merged lists the statements that repeat an earlier one.
func (p *Policy) Merged() []Merge { return p.merged }

// Shadow reports whether the whole policy, including its default verdict, is in shadow mode.
func (p *Policy) Shadow() bool { return p.shadow }

// Fingerprint returns the hexadecimal SHA-256 hash of everything that determines decisions: the
// nets, the maps (see [Map]), the default verdict and the ignored arguments. Go functions count
// only as present or absent.
func (p *Policy) Fingerprint() string { return p.print }

// A NetInfo describes a net in a policy. It must not be modified.
type NetInfo struct {
	Net                // the net as its author wrote it, but with the name that it has in the policy
	Fingerprint string // fingerprint of the net's structure and its maps
}

// Nets returns descriptions of the nets, in order.
func (p *Policy) Nets() []NetInfo {
	infos := make([]NetInfo, len(p.nets))
	for i, n := range p.nets {
		infos[i] = NetInfo{Net: n.Net, Fingerprint: n.print}
	}
	return infos
}

// A NetID identifies a net across policies. It determines which states to keep when the policy
// changes. If two nets have the same structure and maps, they have the same Print, and the new net
// can take over the old net's state. If two limits differ only in their numbers, they have the same
// Limit, and the new limit can take over the old limit's usage.
type NetID struct {
	Name   string
	Print  string // fingerprint of the net's structure and of the maps (see [Map]) that give calls a name listed by the net
	Limit  string // fingerprint of the counted calls and callers, if the net is a limit from the user's rules; otherwise empty
	Family string // fingerprint that does not depend on the maximum, if the net is a limit from the user's rules; otherwise empty
}

// A part holds the first two words of a command that has at least three words. If a call's
// arguments contain both words, the call was probably meant to run the command.
type part struct {
	name         string // name that a [Map] gives to the command
	first, other []byte
}

// occursIn reports whether args contains both words of the part.
func (p *part) occursIn(args []byte) bool {
	return bytes.Contains(args, p.first) && bytes.Contains(args, p.other)
}

// IDs returns the identities of the nets, in order. The result must not be modified.
func (p *Policy) IDs() []NetID { return p.ids() }

// Successes lists, in order, the policy's conditions on call results.
func (p *Policy) Successes() []Condition {
	return list.FlatMap(p.labels, func(l *Labels) []Condition { return l.Successes })
}

// JudgesResults reports whether the policy has conditions on results; see [Policy.Judged].
func (p *Policy) JudgesResults() bool { return len(p.successes) > 0 }

// ReadsResults reports whether the policy uses call results: as key values, for a hook, or for a
// condition. If not, [End.Result] has no effect.
func (p *Policy) ReadsResults() bool { return p.results || len(p.successes) > 0 }

// Ignored returns the arguments that do not matter when c is compared with other calls; see
// [PolicyOptions.Ignored]. It returns nil if all arguments matter.
func (p *Policy) Ignored(c *Call) []string {
	return p.ignored.ofCall(c)
}

// Row returns a fingerprint of c. Two calls have the same fingerprint only if they are identical,
// apart from ignored arguments; see [PolicyOptions.Ignored]. If no net counts consecutive identical
// calls, Row returns "".
func (p *Policy) Row(c *Call) string {
	if !p.rows {
		return ""
	}
	return argument.Fingerprint(c, p.Ignored(c))
}
