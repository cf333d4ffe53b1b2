package config

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"
)

// layers merges the sources of the scalars: a flag overrides the environment, which
// overrides the file, which overrides the default. Settings that loosen a policy
// (mode, default, rules) are not among them: only the file can set them.
type layers struct {
	// Only scalars are in the viper: it lower-cases keys and splits them at dots, which
	// maps of the user's names would not survive.
	values *viper.Viper
	set    map[string]*node // the values that come from the file
	given  map[string]bool  // the scalars that some layer gives
	ofHTTP []*node          // keys of the section "listen" that have no effect without an address
	broken map[string]bool  // sections with mistakes: what is in them is not checked together

	bases []*baseFile // what the file extends
	from  baseReader
}

// A scalar is one value that several layers may give.
type scalar struct {
	initial string
	check   check
	timed   bool // it is a duration
	path    bool // of a file; in the configuration, relative to it
}

// scalars is read-only. The names are those of the keys, and of the fields of [Config].
var scalars = map[string]scalar{
	"listen.http":       {check: checkAddress},
	"listen.auth":       {initial: "token", check: checkWord([]string{"token", "jwt", "none"})},
	"listen.tokenFile":  {check: checkFilled, path: true},
	"listen.idle":       {initial: "1h", check: checkDuration(time.Minute), timed: true},
	"approval.hold":     {initial: "45s", check: checkDuration(0), timed: true},
	"approval.expire":   {initial: "15m", check: checkDuration(time.Second), timed: true},
	"approval.cooldown": {initial: "10m", check: checkDuration(time.Second), timed: true},
	"console.http":      {check: checkConsole},
	"audit.file":        {check: checkFilled, path: true},
	"log.level":         {initial: "info", check: checkWord([]string{"debug", "info", "warn", "error"})},
	"log.format":        {initial: "auto", check: checkWord([]string{"auto", "text", "json"})},
	"session.name":      {check: checkSessionName},
	"telemetry.traces":  {check: checkCollector},
	"telemetry.metrics": {check: checkAddress},
	"startup":           {initial: DefaultStartup.String(), check: checkDuration(0), timed: true},
}

func newLayers() *layers {
	l := &layers{values: viper.New(), set: map[string]*node{}, given: map[string]bool{}, broken: map[string]bool{}}
	for name, s := range scalars {
		l.values.SetDefault(name, s.initial)
	}
	return l
}

// read reads the scalar from a file.
func (s scalar) read(v Value) (string, bool) {
	if s.timed && !v.hasUnit("s") {
		return "", false
	}
	text, ok := checked(s.check)(v)
	if s.path {
		text = v.absolute(text)
	}
	return text, ok
}

// hasUnit refuses a number; unit is one that it may need.
func (v Value) hasUnit(unit string) bool {
	if v.kind == numberKind {
		v.Fault(v.what+" needs a unit", fmt.Sprintf("for example %q", v.text+unit))
	}
	return v.kind != numberKind
}

// scalar returns the function of the key of a scalar.
func (l *layers) scalar(name string) func(Value) {
	return func(v Value) {
		text, ok := scalars[name].read(v)
		if ok {
			l.values.Set(name, text)
		}
		if ok || v.open {
			l.set[name], l.given[name] = v.node, true
		}
	}
}

// section reads a section with scalars, and the other keys that it has.
func (l *layers) section(v Value, others Keys) {
	for name := range scalars {
		if section, key, _ := strings.Cut(name, "."); section == v.key.text {
			others[key] = l.scalar(name)
		}
	}
	v.Fields(others)
}

// noted returns the function of a key that only the file has, and keeps its position.
func (l *layers) noted(name string, read func(Value)) func(Value) {
	return func(v Value) {
		read(v)
		l.set[name] = v.node
	}
}

// whole returns the function of a section that is checked as a whole where all of it can
// be read.
func (l *layers) whole(read func(Value)) func(Value) {
	return func(v Value) {
		before := v.Faults()
		read(v)
		l.broken[v.key.text] = v.Faults() > before
	}
}

// unknown reports whether a setting of a section is a variable that was not looked up: it may be
// anything, so what is set is not held against it.
func (l *layers) unknown(section string) bool {
	for name, n := range l.set {
		if of, _, _ := strings.Cut(name, "."); of == section && n.open {
			return true
		}
	}
	return false
}

func checkDuration(least time.Duration) check {
	return func(what, shown, text string) (msg, hint string) {
		if v, ok := duration(text); !ok || v < least {
			return fmt.Sprintf("%s: %s is not a duration, or is too short", what, shown), "for example 45s"
		}
		return "", ""
	}
}

func checkAddress(what, shown, text string) (msg, hint string) {
	_, port, err := net.SplitHostPort(text)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return fmt.Sprintf("%s: %s is not an address", what, shown), `write "127.0.0.1:7777"`
	}
	return "", ""
}

// checkConsole accepts addresses that only this machine reaches: whoever opens the console can
// answer for people.
func checkConsole(what, shown, text string) (msg, hint string) {
	switch msg, _ = checkAddress(what, shown, text); {
	case text == "off":
		return "", ""
	case msg != "":
		return msg, `write "127.0.0.1:7780", or off`
	case !loopback(text):
		return fmt.Sprintf("%s: %s can be reached from other machines", what, shown), `write "127.0.0.1:7780", and let a reverse proxy that knows who comes in pass on to it; console.allowedHosts names its host`
	}
	return "", ""
}

// merge adds the environment and the flags to the values of the file, and sets the
// fields of c.
func (l *layers) merge(o Options, c *Config, errs *ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(scalars)) {
		if text, ok := o.lookup(Variable(name)); ok && text != "" {
			l.override(name, text, "the variable "+Variable(name), errs)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Flags)) {
		l.override(name, o.Flags[name], "the flag for "+name, errs)
	}
	if err := l.values.UnmarshalExact(c); err != nil && len(*errs) == 0 {
		*errs = append(*errs, Error{Msg: "merging the configuration: " + err.Error()})
	}
}

func (l *layers) override(name, text, source string, errs *ErrorList) {
	s, ok := scalars[name]
	if !ok {
		*errs = append(*errs, Error{Msg: source + ": no such setting"})
		return
	}
	if msg, hint := s.check(source, strconv.Quote(text), text); msg != "" {
		*errs = append(*errs, Error{Msg: msg, Hint: hint})
		return
	}
	l.values.Set(name, text)
	l.given[name] = true
	delete(l.set, name)
}

// Variable returns the environment variable of a setting: PETRIGATE_LOG_LEVEL for
// "log.level", PETRIGATE_LISTEN_TOKEN_FILE for "listen.tokenFile".
func Variable(setting string) string {
	words := capitals.ReplaceAllString(strings.ReplaceAll(setting, ".", "_"), "_$0")
	return "PETRIGATE_" + strings.ToUpper(words)
}

var capitals = regexp.MustCompile(`[A-Z]`)
