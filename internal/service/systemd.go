package service

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// systemd returns the service manager for Linux.
func systemd(s System) *Manager {
	unit := Name + ".service"
	file := filepath.Join(s.configDir(), "systemd", "user", unit)
	ctl := func(words ...string) []string { return append([]string{"systemctl", "--user"}, words...) }
	return &Manager{
		Title:     "systemd",
		File:      file,
		Variables: filepath.Join(s.configDir(), "petrigate", "environment"),
		Log:       "journalctl --user -u " + Name,
		text:      (*Manager).unit,
		probe:     ctl("show-environment"),
		start: []step{
			{argv: ctl("daemon-reload")},
			{argv: ctl("enable", "--quiet", file)}, // the path is needed because the manager may have a different XDG_CONFIG_HOME and might not find the unit by name
			{argv: ctl("restart", unit)},
		},
		stop:         []step{{argv: ctl("stop", unit), lenient: true}, {argv: ctl("disable", "--quiet", unit), lenient: true}},
		active:       ctl("is-active", "--quiet", unit),
		afterRemoval: []step{{argv: ctl("daemon-reload")}, {argv: ctl("reset-failed", unit), lenient: true}},
		logTail:      []string{"journalctl", "--user", "--unit", unit, "--output", "cat", "--no-pager", "--lines", "5"},
	}
}

// unit formats a systemd unit.
func (m *Manager) unit(s Service) (string, error) {
	if strings.ContainsAny(s.Program, `"'\`) || strings.ContainsFunc(s.Program, control) {
		return "", fmt.Errorf("systemd cannot start a program with a quote or a backslash in its path: %s", s.Program)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n[Unit]\nDescription=petrigate for the hooks of agents\n\n", mark(s.Config))
	b.WriteString("[Service]\nType=notify\n")
	fmt.Fprintf(&b, "ExecStart=%s", unitWord(s.Program, false))
	for _, arg := range s.Args {
		b.WriteString(" " + unitWord(arg, true))
	}
	b.WriteString("\n")
	for _, v := range s.Environment {
		fmt.Fprintf(&b, "Environment=%s\n", unitWord(v.Name+"="+v.Value, false))
	}
	if !strings.ContainsFunc(m.Variables, control) && utf8.ValidString(m.Variables) {
		b.WriteString("# Variables for ${NAME} in the configuration, readable by you alone:\n")
		fmt.Fprintf(&b, "EnvironmentFile=-%s\n", unitPattern(m.Variables))
	}
	b.WriteString("Restart=on-failure\nRestartSec=2s\n")
	b.WriteString("# A wrong configuration stays wrong until someone edits it.\nRestartPreventExitStatus=2 3\n")
	b.WriteString("KillMode=mixed\nTimeoutStopSec=30s\n\n[Install]\nWantedBy=default.target\n")
	return b.String(), nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// unitWord quotes a word for a systemd unit. It escapes %, which begins a specifier. In an argument
// of a command, it also escapes $, which begins a variable.
func unitWord(word string, argument bool) string {
	word = strings.ReplaceAll(word, "%", "%%")
	if argument {
		word = strings.ReplaceAll(word, "$", "$$")
	}
	var b strings.Builder
	plain := word != ""
	for i, w := 0, 0; i < len(word); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(word[i:])
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case control(r) || r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, word[i])
		default:
			b.WriteString(word[i : i+w])
			plain = plain && (r >= 0x80 || strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@+=,%$", r))
			continue
		}
		plain = false
	}
	if plain {
		return b.String()
	}
	return `"` + b.String() + `"`
}

// unitPattern escapes a file name for a setting that allows patterns but not quotes.
func unitPattern(path string) string {
	return strings.NewReplacer("%", "%%", `\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
