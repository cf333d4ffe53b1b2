package config

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/viper"
)

// layers are the sources of the scalars: a flag overrides the environment, which
// overrides the file, which overrides the default. Settings that loosen a policy
// (mode, default, rules) are not among them: only the file can set them.
type layers struct {
	file map[string]any
	at   map[string]*node // their positions in the file
}

// A scalar is one value that several layers may give.
type scalar struct {
	initial  string
	duration bool
	check    func(what, shown, text string) (msg, hint string)
}

// scalars is read-only.
var scalars = map[string]scalar{
	"listen.http":       {"", false, checkAddress},
	"listen.auth":       {"token", false, checkWord([]string{"token", "jwt", "none"})},
	"listen.tokenFile":  {"", false, checkFilled},
	"listen.idle":       {"1h", true, checkDuration(time.Minute)},
	"approval.hold":     {"45s", true, checkDuration(0)},
	"approval.expire":   {"15m", true, checkDuration(time.Second)},
	"approval.cooldown": {"10m", true, checkDuration(time.Second)},
	"audit.file":        {"", false, checkFilled},
	"log.level":         {"info", false, checkWord([]string{"debug", "info", "warn", "error"})},
	"log.format":        {"auto", false, checkWord([]string{"auto", "text", "json"})},
	"startup":           {DefaultStartup.String(), true, checkDuration(0)},
}

func checkWord(words []string, later ...string) func(what, shown, text string) (msg, hint string) {
	return func(what, shown, text string) (msg, hint string) {
		if slices.Contains(words, text) {
			return "", ""
		}
		return unknownWord(what, shown, text, words, later)
	}
}

func checkDuration(least time.Duration) func(what, shown, text string) (msg, hint string) {
	return func(what, shown, text string) (msg, hint string) {
		if v, ok := duration(text); !ok || v < least {
			return fmt.Sprintf("%s: %s is not a duration, or is too short", what, shown), "for example 45s"
		}
		return "", ""
	}
}

func checkFilled(what, _, text string) (msg, hint string) {
	if text == "" {
		return what + " is empty", ""
	}
	return "", ""
}

func checkAddress(what, shown, text string) (msg, hint string) {
	_, port, err := net.SplitHostPort(text)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return fmt.Sprintf("%s: %s is not an address", what, shown), `write "127.0.0.1:7777"`
	}
	return "", ""
}

// effective is the result of all layers, under the names of the file.
type effective struct {
	Listen struct {
		HTTP, Auth, TokenFile string
		Idle                  time.Duration
	}
	Approval struct{ Hold, Expire, Cooldown time.Duration }
	Audit    struct{ File string }
	Log      struct{ Level, Format string }
	Startup  time.Duration
}

// merge merges the layers. It is the only use of viper: viper
// lower-cases keys and splits them at dots, which maps of the user's names
// would not survive.
func (l *layers) merge(o Options, errs *ErrorList) effective {
	v := viper.New()
	for name, s := range scalars {
		v.SetDefault(name, s.initial)
	}
	environment := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(scalars)) {
		if text, ok := o.lookup(Variable(name)); ok && text != "" {
			l.override(environment, name, text, "the variable "+Variable(name), errs)
		}
	}
	flags := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o.Flags)) {
		l.override(flags, name, o.Flags[name], "the flag for "+name, errs)
	}
	for _, layer := range []map[string]any{l.file, environment, flags} {
		if err := v.MergeConfigMap(nested(layer)); err != nil {
			*errs = append(*errs, Error{Msg: "merging the configuration: " + err.Error()})
		}
	}
	var e effective
	if err := v.UnmarshalExact(&e); err != nil && len(*errs) == 0 {
		*errs = append(*errs, Error{Msg: "merging the configuration: " + err.Error()})
	}
	return e
}

func (l *layers) override(layer map[string]any, name, text, source string, errs *ErrorList) {
	s, ok := scalars[name]
	if !ok {
		*errs = append(*errs, Error{Msg: fmt.Sprintf("%s: no such setting", source)})
		return
	}
	if msg, hint := s.check(source, strconv.Quote(text), text); msg != "" {
		*errs = append(*errs, Error{Msg: msg, Hint: hint})
		return
	}
	layer[name] = text
	delete(l.at, name)
}

// nested converts {"log.level": x} to {"log": {"level": x}}.
func nested(flat map[string]any) map[string]any {
	tree := map[string]any{}
	for name, value := range flat {
		section, key, ok := strings.Cut(name, ".")
		if !ok {
			tree[name] = value
			continue
		}
		inner, ok := tree[section].(map[string]any)
		if !ok {
			inner = map[string]any{}
			tree[section] = inner
		}
		inner[key] = value
	}
	return tree
}

// Variable returns the environment variable of a setting: PETRIGATE_LOG_LEVEL for
// "log.level", PETRIGATE_LISTEN_TOKEN_FILE for "listen.tokenFile".
func Variable(setting string) string {
	var b strings.Builder
	b.WriteString("PETRIGATE_")
	for _, r := range setting {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}
