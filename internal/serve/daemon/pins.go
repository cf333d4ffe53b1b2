package daemon

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/proxy"
)

// PinsPath is the file with the accepted definitions of tools: that of the configuration, or a
// place for this file.
func PinsPath(c *config.Config) (string, error) {
	if c.Pinning.File != "" {
		return c.Pinning.File, nil
	}
	return stateFile(c, ".tools.json")
}

// ToolChanges lists the tools whose definition is not accepted.
func (d *Daemon) ToolChanges() []operator.ToolChange { return d.pins.Changes() }

// AcceptTool accepts what the server says of a tool now, which must be what the person has
// read: hash is that of the [operator.ToolChange].
func (d *Daemon) AcceptTool(canonical, hash string, a operator.Actor) error {
	return d.pins.Accept(canonical, hash, a)
}

// openPins opens the accepted definitions of tools, after the database; nil: servers may change them.
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

// sharedPins are the definitions in the database. Those of a file of this machine, from before the
// database had some, are taken over.
func (d *Daemon) sharedPins() (*proxy.Pins, error) {
	path, err := PinsPath(d.config)
	if err != nil {
		path = "" // there is no place for a file, and so there is none
	}
	pins, err := proxy.SharedPins(d.database.Late, path, d.config.Pinning.Mode == "enforce", d.log)
	if err != nil {
		return nil, &InvalidError{err}
	}
	return pins, nil
}
