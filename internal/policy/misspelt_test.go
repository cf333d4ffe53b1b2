package policy

import "testing"

func TestLikeness(t *testing.T) {
	tests := []struct {
		a, b string
		want likeness
	}{
		{"drop_table", "drop-table", joined},
		{"dropTable", "drop_table", joined},
		{"post_mesage", "post_message", slip},
		{"create_invocie", "create_invoice", slip},
		{"transfer", "transfar", similar},
		{"delete_row", "delete_rows", ending},
		{"créer_factture", "créer_facture", slip},
		{"v1", "v2", unlike},
		{"node_1", "node_2", unlike},
		{"read_file", "write_file", unlike},
		{"charge", "change", unlike},
		{"contact", "contract", unlike},
		{"consumer", "consumed", unlike},
		{"unlock", "nlock", unlike},
		{"droptable", "drop_table", unlike},
		{"a.b", "a_b", unlike},
		{"_", "-", unlike},
		{"post_mesage", "pots_message", unlike},
	}
	for _, tt := range tests {
		for _, names := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got, _ := likenessOf(wordsOf(names[0]), wordsOf(names[1])); got != tt.want {
				t.Errorf("%s, %s: %d, want %d", names[0], names[1], got, tt.want)
			}
		}
	}
}
