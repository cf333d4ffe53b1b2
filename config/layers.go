package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"
)

// layers merges the values of the scalars, the settings with a single value. A flag overrides the
// environment, which overrides the file, which overrides the default. Scalars that can loosen a
// policy, such as mode and default, are excluded, because only the file can set them.
type layers struct {
	// values contains only scalars. Viper would break maps with keys chosen by users, because it
	// converts keys to lower case and splits them at dots.
	values   *viper.Viper
	set      map[string]*node // settings in the file
	given    map[string]bool  // names of the scalars that any layer sets
	httpOnly []*node          // keys of "listen" in the file that have no effect without an HTTP address
	broken   map[string]bool  // sections with errors, whose settings are not checked against each other

	bases  []*baseFile
	reader baseReader
}

// scalars describes each scalar setting. Its keys are the names of the settings, which are also the
// paths of the fields in [Config]. The map is read-only.
var scalars = map[string]scalar{
	"listen.http":       {check: checkAddress},
	"listen.auth":       {initial: "token", check: checkWord([]string{"token", "jwt", "none"})},
	"listen.tokenFile":  {check: checkNotEmpty, path: true},
	"listen.idle":       {initial: "1h", check: checkDuration(time.Minute), timed: true},
	"approval.hold":     {initial: "45s", check: checkDuration(0), timed: true},
	"approval.expire":   {initial: "15m", check: checkDuration(time.Second), timed: true},
	"approval.cooldown": {initial: "10m", check: checkDuration(time.Second), timed: true},
	"console.http":      {check: checkConsole},
	"audit.file":        {check: checkNotEmpty, path: true},
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

// scalar returns a function that reads the scalar setting from the file and stores it in l.
func (l *layers) scalar(name string) func(Value) {
	return func(v Value) {
		text, ok := scalars[name].read(v)
		if ok {
			l.values.Set(name, text)
		}
		if ok || v.unresolved {
			l.set[name], l.given[name] = v.node, true
		}
	}
}

// section decodes a section of the file. The caller passes the decoder functions for all keys
// except scalars, and section adds those for the section's scalars.
func (l *layers) section(v Value, others Keys) {
	for name := range scalars {
		if section, key, _ := strings.Cut(name, "."); section == v.key.text {
			others[key] = l.scalar(name)
		}
	}
	v.Fields(others)
}

// fileOnly returns a decoder function for a setting that only the file can set. It calls read and
// records the position of the value.
func (l *layers) fileOnly(name string, read func(Value)) func(Value) {
	return func(v Value) {
		read(v)
		l.set[name] = v.node
	}
}

// trackFaults returns a function that decodes a section. The function calls read and records
// whether the section has errors. If it has errors, the section's settings are not checked against
// each other later.
func (l *layers) trackFaults(read func(Value)) func(Value) {
	return func(v Value) {
		before := v.Faults()
		read(v)
		l.broken[v.key.text] = v.Faults() > before
	}
}

// hasUnresolved reports whether a setting in the section uses a variable that was not looked up.
// The value of such a setting is unknown, so problems in the section are not reported.
func (l *layers) hasUnresolved(section string) bool {
	for name, n := range l.set {
		if of, _, _ := strings.Cut(name, "."); of == section && n.unresolved {
			return true
		}
	}
	return false
}

// merge overrides values from the file with those from the environment and the flags, and sets the
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

// Variable returns the environment variable for a setting. For example, it returns
// PETRIGATE_LOG_LEVEL for "log.level" and PETRIGATE_LISTEN_TOKEN_FILE for "listen.tokenFile".
func Variable(setting string) string {
	words := capitals.ReplaceAllString(strings.ReplaceAll(setting, ".", "_"), "_$0")
	return "PETRIGATE_" + strings.ToUpper(words)
}

var capitals = regexp.MustCompile(`[A-Z]`)
