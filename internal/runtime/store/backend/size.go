package backend

// LargestSize returns the number of bytes that the largest of the ops writes. The result is at
// least 1.
func LargestSize(ops []*Op) int {
	most := 1
	for _, op := range ops {
		n := 0
		for i := range op.Writes {
			n += len(op.Writes[i].Data) + len(op.Writes[i].Change)
			for key, value := range op.Writes[i].Values {
				n += len(key) + len(value)
			}
		}
		for i := range op.Events {
			n += len(op.Events[i].Object)
		}
		most = max(most, n)
	}
	return most
}
