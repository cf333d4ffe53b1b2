package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
)

// ParseNet parses nets in YAML or JSON: a single net (a mapping), a list of nets, or a mapping with
// the single key "nets". name is the file name used in positions. The error is an [ErrorList].
func ParseNet(name string, src []byte) ([]Net, error) {
	d := &decoder{source: &source{name: name}}
	nets := readNetFile(d, src)
	if err := d.err(); err != nil {
		return nil, err
	}
	return nets, nil
}

// ReadNets reads the net files that match a pattern.
func ReadNets(pattern string) ([]Net, error) {
	e := &environment{}
	files, errs := e.match(pattern)
	nets, more := e.readNetFiles(files)
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, errs
	}
	return nets, nil
}

func (e *environment) readNetFiles(files []RuleText) (nets []Net, errs ErrorList) {
	for _, f := range files {
		d := &decoder{source: &source{name: f.File}, environment: e}
		nets = append(nets, readNetFile(d, []byte(f.Text))...)
		d.errs.Sort()
		errs = append(errs, d.errs...)
	}
	return nets, errs
}

func readNetFile(d *decoder, src []byte) (nets []Net) {
	root := Value{decoder: d, node: d.read(src), what: `"nets"`}
	switch {
	case len(d.errs) > 0:
	case root.node == nil:
		d.add(1, 1, "the file contains no net", "")
	case root.kind == mapKind && root.get("nets") != nil:
		root.named("a file of nets").Fields(Keys{"nets": into(&nets, listOf(readNet))})
	case root.kind == listKind:
		nets, _ = listOf(readNet)(root)
	default:
		net, _ := readNet(root)
		nets = []Net{net}
	}
	return nets
}

// readNets reads the value of the key "nets" in a configuration.
func readNets(v Value) ([]Net, bool) {
	entries, ok := nonEmpty(listOf(readNetEntry))(v)
	nets := slices.Concat(entries...)
	v.uniqueNets(nets)
	return nets, ok
}

// uniqueNets reports nets that have the same name.
func (d *decoder) uniqueNets(nets []Net) {
	seen := make(map[string]Position, len(nets))
	for _, net := range nets {
		if first, ok := seen[net.Name]; ok && net.Name != "" {
			d.faultAtPosition(net.Position, fmt.Sprintf("duplicate net %q", net.Name), "the first is at "+first.String())
		}
		seen[net.Name] = net.Position
	}
}

func readNetEntry(v Value) (nets []Net, ok bool) {
	if v.get("file") == nil && v.get("inline") == nil {
		net, _ := readNet(v)
		return []Net{net}, true
	}
	v.named(v.label()).Fields(Keys{
		"file": func(v Value) {
			read, errs := v.readNetFiles(readFiles(v))
			nets, v.errs = append(nets, read...), append(v.errs, errs...)
		},
		"inline": func(v Value) {
			net, _ := readNet(v)
			nets = append(nets, net)
		},
	})
	if len(v.fields) != 1 {
		v.Fault(`an entry of "nets" must have one key, "file" or "inline", or the keys of a net`, "")
	}
	return nets, true
}

func readNet(v Value) (Net, bool) {
	v = v.named("a net")
	net := Net{Position: v.Position(), origin: origin{v.source, v.node}}
	v.Fields(Keys{
		"name":           into(&net.Name, Value.Text),
		"places":         into(&net.Places, listOf(Value.plain)),
		"initialMarking": into(&net.InitialMarking, mapOf("the tokens of ", Value.Count)),
		"terminalPlaces": into(&net.TerminalPlaces, listOf(Value.plain)),
		"freeTools":      into(&net.FreeTools, listOf(Value.plain)),
		"allow":          into(&net.Allow, mapOf("the tools of ", listOf(Value.plain))),
		"key":            into(&net.Key, readKey),
		"transitions":    into(&net.Transitions, readTransitions),
		"map":            into(&net.Map, listOf(readMap)),
		"match":          into(&net.Match, oneOf([]string{"all", "first"})),
		"reason":         into(&net.Reason, Value.Text),
		"allowUnbounded": into(&net.AllowUnbounded, Value.Flag),
		"prove":          into(&net.Prove, listOf(readProof)),
		"validate":       into(&net.Validate, nonEmpty(listOf(readValidator))),
		"remember":       into(&net.Remember, nonEmpty(listOf(readMemory))),
		"scope":          into(&net.Scope, oneOf([]string{"session", "principal", "global"})),
		"shadow":         into(&net.Shadow, Value.Flag),
		"priority":       into(&net.Priority, Value.integer),
		"class":          into(&net.Class, oneOf([]string{"required", "advisory"})),
		"recovery":       into(&net.Recovery, readRecovery),
	})
	v.needs("name")
	checkPlaces(v, &net)
	checkProofs(v, &net)
	checkValidatorsAndMemories(v, &net)
	return net, true
}

// readRecovery reads the numbers of tokens under the key "recovery" of a net. It rejects an empty
// mapping, because every marking would satisfy it.
func readRecovery(v Value) (map[string]int, bool) {
	if v.kind == mapKind && len(v.fields) == 0 {
		v.Fault(v.what+" is empty and would always hold", "name the places that must be marked")
	}
	return mapOf("the tokens of ", Value.Count)(v)
}

func readTransitions(v Value) ([]Transition, bool) {
	all, ok := listOf(readTransition)(v)
	seen := make(map[string]Position, len(all))
	for _, t := range all {
		if first, twice := seen[t.Name]; twice && t.Name != "" {
			v.faultAt(t.node.get("name"), fmt.Sprintf("duplicate transition %q", t.Name), firstAt(first))
		}
		seen[t.Name] = t.Position
	}
	return all, ok
}

func readTransition(v Value) (Transition, bool) {
	v = v.named("a transition")
	t := Transition{Position: v.Position(), origin: origin{v.source, v.node}}
	v.Fields(Keys{
		"name":      into(&t.Name, Value.Text),
		"type":      into(&t.Type, oneOf([]string{"auto", "manual"})),
		"inputs":    into(&t.Inputs, listOf(Value.plain)),
		"outputs":   into(&t.Outputs, listOf(Value.plain)),
		"tools":     into(&t.Tools, listOf(Value.plain)),
		"except":    into(&t.Except, nonEmpty(listOf(Value.plain))),
		"key":       into(&t.Key, readKey),
		"approvals": into(&t.Approvals, whole(1, maxApprovals)),
		"deferred":  into(&t.Deferred, Value.Flag),
		"observe":   into(&t.Observe, Value.Flag),
		"unknown":   into(&t.Unknown, oneOf([]string{"hold", "release"})),
		"weak":      into(&t.Weak, oneOf([]string{"block", "progress"})),
		"via":       into(&t.Via, oneOf(channel.Names(nil))),
		"unless":    into(&t.Unless, listOf(Value.plain)),
	})
	v.needs("name")
	for _, key := range []string{"via", "approvals"} {
		if n := v.get(key); n != nil && t.Type != "manual" {
			v.faultAt(n, fmt.Sprintf("%q has no effect for a transition that does not require approval", key), "type: manual")
		}
	}
	if unless := v.get("unless"); unless != nil && len(t.Tools) == 0 {
		v.faultAt(unless, `"unless" has no effect for a transition without tools`, "")
	}
	if except := v.get("except"); except != nil && !slices.Equal(t.Tools, []string{"*"}) {
		v.faultAt(except, `"except" has no effect without tools: ["*"]`, "use unless to exempt calls to individual tools")
	}
	return t, true
}

func readMap(v Value) (Map, bool) {
	v = v.named(v.label())
	m := Map{Position: v.Position(), origin: origin{v.source, v.node}}
	v.Fields(Keys{
		"tool":    into(&m.Tool, Value.Text),
		"field":   into(&m.Field, Value.plain),
		"word":    into(&m.Word, Value.Text),
		"pattern": into(&m.Pattern, Value.Text),
		"as":      into(&m.As, Value.Text),
		"runs":    into(&m.Runs, readWords),
		"exactly": into(&m.Exactly, Value.Flag),
		"reads":   into(&m.Reads, readGlobs),
		"writes":  into(&m.Writes, readGlobs),
		"when":    into(&m.When, readExpression),
	})
	if v.get("when") == nil {
		v.needs("tool", "field", "as")
	} else {
		v.needs("tool", "as")
		if field := v.get("field"); field != nil {
			v.faultAt(field, `"when" reads the whole call, not a field`, "omit field")
		}
	}
	found := 0
	for _, key := range []string{"word", "pattern", "runs", "reads", "writes", "when"} {
		if v.get(key) != nil {
			found++
		}
	}
	if v.kind == mapKind && found != 1 {
		v.Fault(v.what+` needs one of "word", "pattern", "runs", "reads", "writes" and "when"`, "")
	}
	if exactly := v.get("exactly"); exactly != nil && v.get("runs") == nil {
		v.faultAt(exactly, `"exactly" applies only to a command in "runs"`, "write it beside runs")
	}
	return m, true
}

// shellMetacharacters contains the characters with a special meaning in a shell.
const shellMetacharacters = "\"'\\`$|&;<>()\n"

// readWords reads the words of a command, either from a list or from a string, which it splits at
// white space. It rejects a string with shell metacharacters, because a shell would split it
// differently.
func readWords(v Value) ([]string, bool) {
	if v.kind == listKind {
		return nonEmpty(listOf(Value.plain))(v)
	}
	text, ok := v.Text()
	if i := strings.IndexAny(text, shellMetacharacters); i >= 0 {
		v.Fault(fmt.Sprintf("%s: the words of %q are not split as in a shell", v.what, text[i:i+1]),
			`write the words as a list: runs: [git, commit, -m, "two words"]`)
	}
	words := strings.Fields(text)
	if ok && len(words) == 0 {
		v.Fault(v.what+" is empty", "")
	}
	return words, ok
}

// readGlobs reads a list of file globs, or a single one.
func readGlobs(v Value) ([]string, bool) {
	if v.kind == listKind {
		return nonEmpty(listOf(Value.plain))(v)
	}
	text, ok := v.Text()
	return []string{text}, ok
}
