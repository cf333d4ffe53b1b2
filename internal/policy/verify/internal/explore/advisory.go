package explore

import "fmt"

// An advisory net blocks calls unless it yields. It yields if a recovery net overrules it or if
// blocking would leave no tool. The searches assume that it always blocks. A run found by a search
// is real, because no net blocks any of its calls. A proof that no run exists counts only if it
// also holds without the advisory nets.

// Yielding returns the reason why an answer is unknown if any of the nets is advisory. Otherwise,
// it returns the empty string.
func (sys *system) Yielding(nets []int) string {
	for _, n := range nets {
		if sys.Nets[n].Info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", sys.Nets[n].Info.Name)
		}
	}
	return ""
}
