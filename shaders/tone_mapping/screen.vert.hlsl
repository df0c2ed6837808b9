// One triangle that covers the screen. It has no vertices in memory: its corners follow from their numbers.
float4 main(uint vertex : SV_VertexID) : SV_Position {
    float2 corner = float2(vertex << 1 & 2, vertex & 2);
    return float4(2.0 * corner - 1.0, 0.0, 1.0);
}
