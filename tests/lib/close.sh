# close A B TOLERANCE: two checkpoints hold the same tensors, relative to the largest element of each.
close() {
  perl -e 'sub tensors { open F, "<:raw", $_[0] or die; local $/; my $f = <F>; my $n = unpack "Q<", $f; my %t;
      my $h = substr $f, 8, $n;
      while ($h =~ /"([^"]+)":\{"dtype":"(F32|F64)","shape":\[[0-9,]*\],"data_offsets":\[(\d+),(\d+)\]/g) {
        $t{$1} = [unpack(($2 eq "F32" ? "f<*" : "d<*"), substr $f, 8 + $n + $3, $4 - $3)] }
      return %t }
    my %a = tensors($ARGV[0]); my %b = tensors($ARGV[1]); die "no tensors" if !%a || keys %a != keys %b;
    for my $k (keys %a) { my ($most, $worst) = (0, 0); my @b = @{$b{$k}};
      for my $i (0 .. $#b) { $most = abs $b[$i] if abs $b[$i] > $most;
        my $d = abs($b[$i] - $a{$k}[$i]); $worst = $d if !($d <= $worst) }
      die "$k: $worst of $most" if !($worst <= $ARGV[2] * $most) }' "$@"
}
