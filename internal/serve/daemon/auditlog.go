package daemon

import "github.com/petrigate/petrigate/internal/serve/audit"

// openAudit opens the audit log, and tells what is missing in it.
func (d *Daemon) openAudit() (*audit.Log, error) {
	c := d.config.Audit
	log, err := audit.Open(c.File, audit.Rotation{Size: c.Rotate.Size, Keep: c.Rotate.Keep, Failed: func(err error) {
		d.log.Error("the audit log cannot be put aside, and grows on", "file", c.File, "error", err)
	}})
	if err != nil {
		return nil, err
	}
	if missing := log.Cut(); missing != "" {
		d.log.Error("the audit log was changed since it was written", "file", c.File, "missing", missing)
	}
	return log, nil
}
