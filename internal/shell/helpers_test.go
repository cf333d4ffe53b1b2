package shell_test

import "github.com/petrigate/petrigate/internal/shell"

func runs(r *shell.Reading, p shell.Pattern) shell.Outcome {
	found, _ := r.Runs(p)
	return found
}

func onlyCheck(r *shell.Reading, ps ...shell.Pattern) bool {
	ok, _ := r.Only(ps...)
	return ok
}

func surely(r *shell.Reading, p shell.Pattern) bool {
	ok, _ := r.Surely(p)
	return ok
}

func doubt(r *shell.Reading) string {
	d, _ := r.Doubt()
	return d.String()
}
