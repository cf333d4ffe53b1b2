package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A shape is a kind of call: a physical tool with the names that one real call
// can have together.
type shape struct {
	tool     string
	args     string  // JSON of such a call; empty: {}
	doubtful bool    // no arguments are known that have these names
	supposed bool    // nobody knows whether there is such a tool
	labels   []label // of the policy, then what nets of their own maps add, then patterns that match one of them
	touches  []touch // by net
	knowers  []int   // nets that know it, where the default denies what none knows
	waits    bool    // it is no call: time passes, and a transition fires by the clock
	wait     time.Duration
	shut     []int // nets that block it in every state
}

// A touch is what a shape means to one net that lists one of its names.
type touch struct{ net, effect int }

// carries reports whether a call of the shape has the name; with evidence, as
// more than a restriction.
func (s *shape) carries(t gate.Tool, evidence bool) bool {
	return slices.ContainsFunc(s.labels, func(l label) bool {
		switch {
		case l.text != t.Name || (l.glob > 0) != (t.Kind == gate.Glob) || evidence && l.weak:
			return false
		case t.Kind == gate.Literal:
			return !l.actionOnly()
		}
		return true
	})
}

// unsure reports whether nobody knows that such a call can be made.
func (s *shape) unsure() bool { return s.doubtful || s.supposed }

// nets are those that the shape touches.
func (s *shape) nets() []int {
	var out []int
	for _, t := range s.touches {
		out = append(out, t.net)
	}
	return out
}

// name is how a step of a sequence is called: by its label where it has one.
func (s *shape) name() string {
	if s.waits {
		return "time passes"
	}
	name := s.tool
	for _, l := range s.labels {
		if l.glob == 0 && l.from&fromTool == 0 {
			name = l.text
		}
	}
	return name
}

// weakly reports whether the name of the call is no evidence.
func (s *shape) weakly(name string) bool {
	return slices.ContainsFunc(s.labels, func(l label) bool { return l.glob == 0 && l.text == name && l.weak })
}

// Bounds of the shapes that are looked at.
const (
	maxShapesOfTool = 2048
	maxShapes       = 8192
	maxMapsOfField  = 8 // of which all sets are tried
	maxListed       = 5 // likewise, in advance
)

// shaper derives the shapes of a policy.
type shaper struct {
	nets      []*net
	naming    *naming
	extra     []gate.Tool
	tools     []string            // physical names
	isTool    map[string]bool     // these, and the further names that known tools have
	known     map[string]bool     // names of tools that are known
	supposed  map[string]bool     // tools of which nobody knows whether they are there
	complete  bool                // there are no tools but those that are known and those that something names
	action    map[string][]string // of a tool: actions that rules name
	joint     map[string]bool     // tool.action that several others together stand for
	shapes    []*shape
	seen      map[string]int
	listed    map[string]bool // names that a net or an assertion speaks of
	gaps      []gap           // what was left out
	opened    []*openTool
	tries     int           // of making up names
	invented  *openNames    // nil: all names that patterns tell apart were made up
	only      map[glob]bool // patterns that names are made up for; nil: all
	overflows []string      // gaps of open tools that were met
	deny      bool
	worths    map[string]worth    // of labels that readers give
	wholes    map[string]*whole   // by tool
	paths     map[string][]string // by tool, see [shaper.pathsOf]
}

func (b *shaper) derive(known []Tool) {
	b.isTool, b.action, b.seen = make(map[string]bool), make(map[string][]string), make(map[string]int)
	b.listed, b.joint, b.supposed = make(map[string]bool), make(map[string]bool), make(map[string]bool)
	b.paths = make(map[string][]string)
	also := make(map[string][]gate.Name)
	for _, t := range known {
		b.tool(t.Name)
		also[t.Name] = t.Also
		b.supposed[t.Name] = t.Supposed
	}
	for _, t := range known {
		for _, a := range t.Also { // which is no further tool
			b.isTool[a.Text] = true
		}
	}
	b.known = maps.Clone(b.isTool)
	b.wholes = make(map[string]*whole)
	b.mentions()
	b.weigh()
	before := b.copy()
	if !b.inventTools(also) {
		b.tools, b.isTool, b.action, b.joint = before.tools, before.isTool, before.action, before.joint
		b.openPatterns(before, also)
	}
	for i := 0; i < len(b.tools); i++ {
		b.ofTool(b.tools[i], also[b.tools[i]])
		if len(b.shapes) > maxShapes {
			b.gap("", "the policy has more than %d kinds of calls", maxShapes)
			return
		}
	}
}

// A gap is what was left out of the calls of a tool; of all where tool is empty.
type gap struct{ tool, text string }

func (b *shaper) gap(tool, format string, args ...any) {
	if g := (gap{tool, fmt.Sprintf(format, args...)}); !slices.Contains(b.gaps, g) {
		b.gaps = append(b.gaps, g)
	}
}

func (b *shaper) tool(name string) {
	if !b.isTool[name] {
		b.isTool[name] = true
		b.tools = append(b.tools, name)
	}
}

// mentions collects the tools and the actions that the policy speaks of.
func (b *shaper) mentions() {
	made := make(map[string]bool)
	for i := range b.naming.maps {
		made[b.naming.maps[i].As] = true
		b.tool(b.naming.maps[i].Tool)
	}
	var dotted []string
	name := func(t gate.Tool, made map[string]bool, rules bool) {
		b.listed[t.Name] = true
		action := t.Kind == gate.Plain && rules && strings.Contains(strings.TrimPrefix(t.Name, "."), ".")
		switch {
		case t.Kind == gate.Glob || made[t.Name] && !action:
		case action:
			dotted = append(dotted, t.Name)
		default:
			b.tool(t.Name)
		}
	}
	for _, n := range b.nets {
		names := made
		if n.info.Labels == nil {
			names = make(map[string]bool)
			for _, m := range n.info.Maps {
				names[m.As] = true
				b.tool(m.Tool)
			}
		}
		for _, t := range n.info.Transitions {
			for _, tool := range slices.Concat(t.Tools, t.Unless) {
				name(tool, names, n.info.Labels != nil)
			}
		}
		for _, f := range n.info.Free {
			name(gate.Tool{Name: f}, names, n.info.Labels != nil)
		}
	}
	all := b.madeBy(made)
	for _, t := range b.extra {
		name(t, all, true)
	}
	for _, d := range dotted {
		b.dotted(d)
	}
	if !b.complete {
		b.suppose(dotted)
	}
}

// suppose adds tools that are called as what else than a tool the policy speaks
// of: an action, or what a map makes of a call.
func (b *shaper) suppose(names []string) {
	each := func(maps []gate.Map) {
		for i := range maps {
			if b.listed[maps[i].As] {
				names = append(names, maps[i].As)
			}
		}
	}
	each(b.naming.maps)
	for _, n := range b.nets {
		each(n.info.Maps)
	}
	for _, name := range names {
		if !b.isTool[name] {
			b.supposed[name] = true
			b.tool(name)
		}
	}
}

// madeBy is made and the names that maps of nets give.
func (b *shaper) madeBy(made map[string]bool) map[string]bool {
	all := make(map[string]bool)
	for name := range made {
		all[name] = true
	}
	for _, n := range b.nets {
		for _, m := range n.info.Maps {
			all[m.As] = true
		}
	}
	return all
}

// dotted takes a name for the action of each tool that is known, and of what
// stands before the first dot if nobody knows the tools.
func (b *shaper) dotted(name string) {
	if listed := b.actionsNamed(name); listed || b.known[name] {
		return // or a known tool is called so
	}
	first := 1 + strings.IndexByte(name[1:], '.')
	b.tool(name[:first])
	b.actionsNamed(name)
}

// actionsNamed takes a name for the action of each tool of which it can be one.
// It reports whether one of them is listed.
func (b *shaper) actionsNamed(name string) (listed bool) {
	for i := 1; i < len(name); i++ {
		base, action := name[:i], name[i+1:]
		if name[i] != '.' || !b.isTool[base] {
			continue
		}
		listed = listed || b.known[base]
		if !slices.Contains(b.action[base], action) {
			b.action[base] = append(b.action[base], action)
		}
	}
	return listed
}

// ofTool adds the shapes of one tool: every combination of what its fields can
// hold, or where they are too many, some of them; then the tool stays open.
func (b *shaper) ofTool(tool string, also []gate.Name) {
	base := []label{{text: tool, from: fromTool, certain: true}}
	for _, a := range also {
		base = add(base, label{text: a.Text, from: fromTool, certain: a.Certain, weak: a.Weak})
	}
	var options [][]*value
	count := 1
	for _, f := range b.fields(base) {
		values, ok := b.values(f, base)
		options = append(options, append([]*value{nil}, values...))
		if count *= 1 + len(values); !ok || count > maxShapesOfTool {
			b.open(tool, base)
			return
		}
	}
	eachForm(base, options, count, func(f *form) { b.add(tool, f) })
}

// eachForm calls do with every choice of one value of each field.
func eachForm(base []label, options [][]*value, count int, do func(*form)) {
	for k := range count {
		f := &form{tools: base}
		for i := range options {
			if v := options[i][k%len(options[i])]; v != nil {
				f.fields = append(f.fields, *v)
			}
			k /= len(options[i])
		}
		do(f)
	}
}

// fields are the names of the fields of the tool that matter.
func (b *shaper) fields(tools []label) []string {
	var fields []string
	each := func(maps []gate.Map) {
		for i := range maps {
			if hasTool(tools, maps[i].Tool) && !slices.Contains(fields, maps[i].Field) {
				fields = append(fields, maps[i].Field)
			}
		}
	}
	each(b.naming.maps)
	for _, n := range b.nets {
		if n.info.Labels == nil {
			each(n.info.Maps)
		}
	}
	for _, t := range tools {
		if len(b.action[t.text]) > 0 && !slices.Contains(fields, "action") {
			fields = append(fields, "action")
		}
	}
	return fields
}

func hasTool(tools []label, name string) bool {
	return slices.ContainsFunc(tools, func(l label) bool { return l.text == name })
}

// add adds the shape of a form, unless there is one that no net can tell from it.
func (b *shaper) add(tool string, f *form) {
	s := b.shape(tool, f)
	key := b.keyOf(s, f)
	switch at, seen := b.seen[key]; {
	case !seen:
		b.seen[key] = len(b.shapes)
		b.shapes = append(b.shapes, s)
	case b.shapes[at].unsure() && !s.unsure():
		b.shapes[at] = s // the same, and arguments are known
	}
}

// shape is that of a form.
func (b *shaper) shape(tool string, f *form) *shape {
	s := &shape{tool: tool, supposed: b.supposed[tool]}
	policy := b.naming.labels(f)
	all := slices.DeleteFunc(slices.Clone(policy), func(l label) bool { return l.glob > 0 })
	for _, n := range b.nets {
		ls := policy
		if n.info.Labels == nil {
			ls = n.own(f)
			for _, l := range ls {
				if l.glob == 0 {
					all = add(all, l)
				}
			}
		}
		if n.info.Shadow {
			continue // it is as if it were not there
		}
		if n.knows(ls) || n.info.MatchFirst && n.info.Labels == nil && n.knows(f.tools) {
			s.knowers = append(s.knowers, n.index)
		}
		if e := n.effect(ls); len(e) > 0 {
			s.touches = append(s.touches, touch{n.index, n.internEffect(e)})
			if n.shut(e) {
				s.shut = append(s.shut, n.index)
			}
		}
	}
	s.labels = b.naming.patterns(all)
	args, known := b.arguments(f)
	s.args, s.doubtful = args, !known || b.entangled(f)
	return s
}

// keyOf is what distinguishes the shape for nets and assertions.
func (b *shaper) keyOf(s *shape, f *form) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%q", s.tool)
	b.note(&key, b.naming.labels(f))
	for _, n := range b.nets {
		if n.info.Labels == nil {
			b.note(&key, n.own(f))
		}
	}
	b.note(&key, s.labels)        // as assertions see them
	for _, t := range s.touches { // what exempts a call is seen in its effect
		fmt.Fprintf(&key, "%d:%d,", t.net, t.effect)
	}
	return key.String()
}

// note writes what nets and assertions can see of names.
func (b *shaper) note(key *strings.Builder, ls []label) {
	key.WriteByte('|')
	for _, l := range ls {
		if b.listed[l.text] || l.glob > 0 {
			fmt.Fprintf(key, "%q%v%v%d%d,", l.text, l.weak, l.certain, l.glob, l.from)
		}
	}
}

// put sets a field of the arguments, or what a plain path leads to. It reports
// whether the content can stand there.
func put(object map[string]any, field string, content any) bool {
	path, deep := strings.CutPrefix(field, "$.")
	if !isPath(field) {
		_, taken := object[field] // by a path into it
		object[field] = content
		return !taken
	}
	if !deep || strings.ContainsAny(path, `["`) {
		return false
	}
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		if object[key] == nil {
			object[key] = make(map[string]any)
		}
		inner, ok := object[key].(map[string]any)
		if !ok {
			return false
		}
		object = inner
	}
	last := keys[len(keys)-1]
	if object[last] != nil {
		return false
	}
	object[last] = content
	return true
}
