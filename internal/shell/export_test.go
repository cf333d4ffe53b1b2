package shell

import "fmt"

// TableProblems are the mistakes in the table of programs.
func TableProblems() (problems []string) {
	for name, p := range programs {
		seen := make(map[string]bool)
		known := parseOptions(p.options)
		for _, o := range known.all {
			for _, n := range o.names {
				if seen[n] || n == "" {
					problems = append(problems, fmt.Sprintf("%s has the option %q twice", name, n))
				}
				seen[n] = true
			}
			for _, n := range o.implies {
				if known.byName[n] == nil {
					problems = append(problems, fmt.Sprintf("%s: %v stands for %q, which is not there", name, o.names, n))
				}
			}
		}
	}
	return problems
}
