package daemon

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/proxy"
)

// PinsPath returns the file with the accepted definitions of tools: the configured one, or a path
// derived from the configuration file.
func PinsPath(c *config.Config) (string, error) {
	if c.Pinning.File != "" {
		return c.Pinning.File, nil
	}
	return stateFile(c, ".tools.json")
}

// ToolChanges returns the tools whose definition is not accepted.
func (d *Daemon) ToolChanges() []operator.ToolChange { return d.pins.Changes() }

// AcceptTool accepts the current definition of a tool. hash, from the [operator.ToolChange],
// ensures that it is the definition that the person has read.
func (d *Daemon) AcceptTool(canonical, hash string, a operator.Actor) error {
	return d.pins.Accept(canonical, hash, a)
}

// openPins opens the accepted definitions of tools; the database must be open. It returns nil if
// tools are not pinned.
func (d *Daemon) openPins() (*proxy.Pins, error) {
	mode := d.config.Pinning.Mode
	switch {
	case mode == "off" || d.config.Pinning.File == "" && d.file == "":
		return nil, nil
	case d.config.Pinning.File == "" && d.database != nil && d.database.driver == "postgres":
		return d.sharedPins()
	}
	path, err := PinsPath(d.config)
	if err != nil && mode == "warn" {
		d.log.Warn("changes of tools are not noticed: there is no place for what was accepted", "error", err)
		return nil, nil
	}
	if err != nil {
		return nil, &InvalidError{err}
	}
	pins, err := proxy.OpenPins(path, mode == "enforce")
	if err != nil {
		return nil, &InvalidError{err}
	}
	return pins, nil
}

// sharedPins returns the definitions in the database. If the database has none yet, it imports
// those in a file on this machine.
func (d *Daemon) sharedPins() (*proxy.Pins, error) {
	path, err := PinsPath(d.config)
	if err != nil {
		path = "" // without a state directory nothing can be imported
	}
	pins, err := proxy.SharedPins(d.database.Late, path, d.config.Pinning.Mode == "enforce", d.log)
	if err != nil {
		return nil, &InvalidError{err}
	}
	return pins, nil
}
