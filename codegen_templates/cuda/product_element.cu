/* One product of the depth, added to the sum of a thread that has one element. */
@TYPE@ a[1] = {0}, b[1] = {0};
{
  const @INDEX@ outer = row;
  @TYPE@ value = 0;
  @LEFT@
  a[r] = value;
}
{
  const @INDEX@ outer = column;
  @TYPE@ value = 0;
  @RIGHT@
  b[c] = value;
}
@ADD@;
