package daemon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
)

// needRestart returns the configuration keys of changed settings that take effect only after a
// restart.
func needRestart(old, c *config.Config) (keys []string) {
	for _, section := range []struct {
		key     string
		was, is any
	}{
		{"listen", old.Listen, c.Listen}, {"session", old.Session, c.Session}, {"state", old.State, c.State},
		{"approval", old.Approval, c.Approval}, {"audit", old.Audit, c.Audit}, {"telemetry", old.Telemetry, c.Telemetry},
		{"log.format", old.Log.Format, c.Log.Format}, {"startup", old.Startup, c.Startup},
		{"pinning", old.Pinning, c.Pinning},
		{"advertise", old.Advertise == "enabled", c.Advertise == "enabled"},
	} {
		if !sameJSON(section.was, section.is) {
			keys = append(keys, section.key)
		}
	}
	return append(keys, changedServers(old.Servers, c.Servers)...)
}

// changedServers returns the configuration keys of the servers that were added, removed or changed.
func changedServers(old, now []config.Server) (keys []string) {
	for _, pair := range [][2][]config.Server{{now, old}, {old, now}} {
		for _, s := range pair[0] {
			s.Position = config.Position{}
			same := func(o config.Server) bool {
				o.Position = config.Position{}
				return sameJSON(o, s)
			}
			if key := "mcpServers." + s.Name; !slices.ContainsFunc(pair[1], same) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// sameJSON reports whether a and b have the same JSON encoding.
func sameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	other, also := json.Marshal(b)
	return err == nil && also == nil && bytes.Equal(one, other)
}
