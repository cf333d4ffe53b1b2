package daemon

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy"
)

// policyFiles returns the policy's files, along with the hashes of their content.
func policyFiles(c *config.Config) (files []proxy.File) {
	for _, name := range filesOf(c) {
		sum := c.Sums[name]
		if i := slices.IndexFunc(c.Rules, func(r config.RuleText) bool { return r.File == name }); sum == "" && i >= 0 {
			sum = audit.HashOf(c.Rules[i].Text) // compute the hash, because the configuration has none for a rules file named on the command line
		}
		if sum != "" {
			files = append(files, proxy.File{Name: name, SHA256: sum})
		}
	}
	return files
}

// filesOf returns the files that make up the configuration, without duplicates.
func filesOf(c *config.Config) (files []string) {
	seen := map[string]bool{"": true}
	add := func(name string) {
		if !seen[name] && !strings.Contains(name, "://") { // a name that contains :// is the URL of a base, not a file
			seen[name] = true
			files = append(files, name)
		}
	}
	add(c.File)
	for _, rules := range c.Rules {
		add(rules.File)
	}
	for i := range c.Nets {
		add(c.Nets[i].Position.File)
	}
	for _, b := range c.Bases {
		add(b.File)
		if b.Key != "" {
			add(basefile.SignatureOf(b.File))
		}
	}
	return files
}
