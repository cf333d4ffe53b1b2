package config

import (
	"fmt"
	"os"
	"strings"
)

// readEnvFile reads variables of a server from a file, one NAME=VALUE per line. The
// variables of env override them.
func readEnvFile(d *decoder, to *map[string]string) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, textKind, quoted(key)) {
			return
		}
		before := len(d.errs)
		name := d.interpolated(value)
		if len(d.errs) > before {
			return
		}
		if name == "" {
			d.at(value, quoted(key)+" is empty", "")
			return
		}
		path := d.absolute(name)
		data, err := readFile(path, maxSize)
		if err != nil {
			d.at(value, fmt.Sprintf("reading %s: %v", shown(value), cause(err)), "")
			return
		}
		if open, mode := readableByOthers(path); open {
			d.warn(value, fmt.Sprintf("others may read %s, mode %04o", shown(value), mode), "chmod 600")
		}
		all := map[string]string{}
		*to = all
		for i, line := range strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n") {
			if problem := readVariable(all, strings.TrimSpace(line)); problem != "" {
				d.at(value, fmt.Sprintf("line %d of %s %s", i+1, shown(value), problem), "NAME=VALUE, or a comment after #")
			}
		}
		for name, v := range all {
			d.resolved(name, v)
		}
	}
}

// readVariable reads a line of such a file. Its errors do not contain the value,
// which may be a secret. Quotes around a value are removed.
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
		return "has no name of a variable"
	}
	if _, twice := to[name]; twice {
		return fmt.Sprintf("sets %s again", name)
	}
	if quote := strings.IndexAny(value, "\"'"); quote == 0 {
		if len(value) < 2 || value[len(value)-1] != value[0] {
			return "has a quote that does not end"
		}
		value = value[1 : len(value)-1]
	}
	to[name] = value
	return ""
}

// readableByOthers reports whether people other than the owner may read a file.
func readableByOthers(path string) (bool, os.FileMode) {
	info, err := os.Stat(path)
	if err != nil {
		return false, 0
	}
	mode := info.Mode().Perm()
	return mode&0o044 != 0, mode
}

// joinEnv adds the variables of the file that env does not set.
func (s *Server) joinEnv(file map[string]string) {
	for name, value := range file {
		if _, ours := s.Env[name]; ours {
			continue
		}
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[name] = value
	}
}
