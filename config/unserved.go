package config

import (
	"fmt"
	"strings"
)

// refuseUnserved refuses what the file may say, and this version does not do: nothing of a
// configuration is ignored.
func (c *Config) refuseUnserved(d *decoder, l *layers) {
	for _, u := range []struct {
		key  string
		used bool
	}{
		{"state.driver", c.State.Driver != "memory"},
	} {
		section, _, _ := strings.Cut(u.key, ".")
		if u.used && !l.broken[section] {
			d.at(l.set[u.key], fmt.Sprintf("this value of %q is not supported yet", u.key), "")
		}
	}
}
