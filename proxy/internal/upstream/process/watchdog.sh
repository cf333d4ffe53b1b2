trap '' HUP INT TERM QUIT
all=' '
while read -r op pid; do
	case $op in
	+) all="$all$pid " ;;
	-) case $all in *" $pid "*) all="${all%% $pid *} ${all#* $pid }" ;; esac ;;
	esac
done
[ "$all" = ' ' ] && exit
for round in 1 2 3; do
	for pid in $all; do kill -KILL -$pid; done
	for dir in /proc/[0-9]*; do
		read -r stat <"$dir/stat" || continue
		set -- ${stat##*) }
		case $all in *" $4 "*) kill -KILL ${dir#/proc/} ;; esac
	done
done 2>/dev/null
