// RUN: tracec-opt %s -kernel-to-vector -kernel-vector-to-llvm | FileCheck %s --implicit-check-not=scf. --implicit-check-not=arith.

/// Loops become branches, arithmetic the LLVM dialect; nothing else is left.
// CHECK-LABEL: llvm.func @sum_i64(
kernel.func @sum_i64 domain 2 reduced [1]
    (%x: !kernel.access<load i64 contiguous>, %s: !kernel.access<reduce_store i64 zero>) {
  %0 = kernel.load %x : !kernel.access<load i64 contiguous>
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store i64 zero>, i64
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.cond_br
  // CHECK: llvm.call @tcs_add_i64_v16
}
