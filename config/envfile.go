package config

import (
	"fmt"
	"os"
	"strings"
)

// readEnvFile reads environment variables from a file with one NAME=VALUE per line. A variable that
// is also in "env" gets the value from "env".
func readEnvFile(v Value) (map[string]string, bool) {
	name, ok := checked(checkNotEmpty)(v)
	if !ok {
		return nil, false
	}
	if v.environment.text {
		v.skip("the file " + name)
		return nil, true
	}
	path := v.absolute(name)
	data, err := readFile(path, maxSize)
	if err != nil {
		v.Fault(fmt.Sprintf("reading %s: %v", v.quoted(), cause(err)), "")
		return nil, false
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 {
		v.warn(v.node, fmt.Sprintf("other users can read %s, mode %04o", v.quoted(), info.Mode().Perm()), "chmod 600")
	}
	all := map[string]string{}
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n") {
		if problem := readVariable(all, strings.TrimSpace(line)); problem != "" {
			v.Fault(fmt.Sprintf("line %d of %s %s", i+1, v.quoted(), problem), "write NAME=VALUE, or a comment after #")
		}
	}
	for name, value := range all {
		v.recordSecret(name, value)
	}
	return all, true
}

// readVariable parses a line of an environment file. It removes quotes around the value. The
// returned problem does not contain the value, which may be a secret.
func readVariable(to map[string]string, line string) (problem string) {
	line = strings.TrimPrefix(line, "export ")
	if line == "" || line[0] == '#' {
		return ""
	}
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok:
		return "has no ="
	case name == "" || strings.ContainsAny(name, " \t\"'") || strings.ContainsRune(line, 0):
		return "has no variable name"
	}
	if _, twice := to[name]; twice {
		return fmt.Sprintf("sets %s again", name)
	}
	if quote := strings.IndexAny(value, "\"'"); quote == 0 {
		if len(value) < 2 || value[len(value)-1] != value[0] {
			return "has an unclosed quote"
		}
		value = value[1 : len(value)-1]
	}
	to[name] = value
	return ""
}

func checkVariable(key, _ string) string {
	if key == "" || strings.ContainsAny(key, "=\x00") {
		return fmt.Sprintf("%q is not the name of a variable", key)
	}
	return ""
}
