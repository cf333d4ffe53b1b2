package sqlite

import "errors"

// Execute runs a statement on a database that may be in use. It is for tests.
func Execute(path, statement string) error {
	l, err := usual.dial(path, writing)
	if err != nil {
		return err
	}
	return errors.Join(l.run(statement), l.close())
}
