// RUN: tracec-opt %s | tracec-opt | FileCheck %s
// RUN: tracec-opt %s -mlir-print-op-generic | tracec-opt | FileCheck %s

// CHECK-LABEL: kernel.func @map_split_f32 domain 2 split outer_axis ops [3, 4]
// CHECK-SAME: (%[[X:.+]]: !kernel.access<load f32 contiguous>, %[[Y:.+]]: !kernel.access<load f32 zero>, %[[OUT:.+]]: !kernel.access<store ui8 any>)
kernel.func @map_split_f32 domain 2 split outer_axis ops [3, 4]
    (%x: !kernel.access<load f32 contiguous>, %y: !kernel.access<load f32 zero>,
     %out: !kernel.access<store ui8 any>) {
  // CHECK: %[[A:.+]] = kernel.load %[[X]] : <load f32 contiguous>
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  // CHECK: %[[B:.+]] = kernel.load %[[Y]]
  %1 = kernel.load %y : !kernel.access<load f32 zero>
  // CHECK: %[[SUM:.+]] = kernel.apply "add"(%[[A]], %[[B]]) : (f32, f32) -> f32
  %2 = kernel.apply "add"(%0, %1) : (f32, f32) -> f32
  // CHECK: %[[BYTE:.+]] = kernel.cast %[[SUM]] : f32 to ui8
  %3 = kernel.cast %2 : f32 to ui8
  // CHECK: kernel.store %[[BYTE]] to %[[OUT]] : <store ui8 any>
  kernel.store %3 to %out : !kernel.access<store ui8 any>
}

// CHECK-LABEL: kernel.func @reduce_unit_axes domain 3 reduced [1] unit [2]
kernel.func @reduce_unit_axes domain 3 reduced [1] unit [2]
    (%x: !kernel.access<load i1 any>, %sum: !kernel.access<reduce_store i64 zero>,
     %max: !kernel.access<reduce_store i1 zero>) {
  %0 = kernel.load %x : !kernel.access<load i1 any>
  // CHECK: kernel.reduce "sum"(%{{.+}}) to %{{.+}} : <reduce_store i64 zero>, i1
  kernel.reduce "sum"(%0) to %sum : !kernel.access<reduce_store i64 zero>, i1
  // CHECK: kernel.reduce "max"(%{{.+}}) to %{{.+}} : <reduce_store i1 zero>, i1
  kernel.reduce "max"(%0) to %max : !kernel.access<reduce_store i1 zero>, i1
}

// CHECK-LABEL: kernel.func @blocks_flat_f16 domain 1 reduced [0] flat split sequence_blocks
kernel.func @blocks_flat_f16 domain 1 reduced [0] flat split sequence_blocks
    (%x: !kernel.access<load f16 contiguous>, %sum: !kernel.access<reduce_store f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f16 contiguous>
  kernel.reduce "sum"(%0) to %sum : !kernel.access<reduce_store f32 zero>, f16
}

// CHECK-LABEL: kernel.func @mask_gather_compact_f64
kernel.func @mask_gather_compact_f64 domain 1
    (%t: !kernel.access<gather f64 zero axes 2>, %i: !kernel.access<index i64 contiguous>,
     %m: !kernel.access<load i1 contiguous>, %out: !kernel.access<compact_store f64 contiguous>) {
  %0 = kernel.load %i : !kernel.access<index i64 contiguous>
  %1 = kernel.load %m : !kernel.access<load i1 contiguous>
  // CHECK: %[[P:.+]] = kernel.position : i64
  %2 = kernel.position : i64
  // CHECK: %[[C:.+]] = kernel.const 2.500000e-01 : f64
  %3 = kernel.const 2.5e-01 : f64
  // CHECK: %[[V:.+]] = kernel.gather %{{.+}}[%{{.+}}, %[[P]]] where %[[M:.+]] unchecked : <gather f64 zero axes 2>, i64, i64
  %4 = kernel.gather %t[%0, %2] where %1 unchecked : !kernel.access<gather f64 zero axes 2>, i64, i64
  %5 = kernel.apply "mul"(%4, %3) : (f64, f64) -> f64
  // CHECK: kernel.compact %{{.+}} where %[[M]] to %{{.+}} : <compact_store f64 contiguous>
  kernel.compact %5 where %1 to %out : !kernel.access<compact_store f64 contiguous>
}

// CHECK-LABEL: kernel.func @set_through_a_view
kernel.func @set_through_a_view domain 1
    (%x: !kernel.access<load i32 contiguous>, %out: !kernel.access<set_store i32 any>) {
  %0 = kernel.load %x : !kernel.access<load i32 contiguous>
  // CHECK: kernel.store %{{.+}} to %{{.+}} : <set_store i32 any>
  kernel.store %0 to %out : !kernel.access<set_store i32 any>
}

// CHECK-LABEL: kernel.func @empty domain 0 ()
kernel.func @empty domain 0 () {
}
