package explore

import "fmt"

// An advisory net blocks calls, except where it yields: while a recovery net overrules it, or where
// blocking would leave no tool. The searches assume that it always blocks. A run that they find is
// real, since no net blocks any call of it. A proof that no run exists counts only if it also holds
// without the advisory nets.

// Yielding returns the reason why an answer is unknown if one of the nets is advisory, and the
// empty string otherwise.
func (sys *system) Yielding(nets []int) string {
	for _, n := range nets {
		if sys.Nets[n].Info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", sys.Nets[n].Info.Name)
		}
	}
	return ""
}
