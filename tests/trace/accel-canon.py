#!/usr/bin/env python3
"""Write a folder of Accel-Sim traces in the canonical form of its tracer: all address modes, spaces and modifiers.

  accel-canon.py FOLDER VERSION LINEINFO SEED
"""
import random,sys,os
d,ver,li,seed=sys.argv[1],sys.argv[2],int(sys.argv[3]),int(sys.argv[4])
random.seed(seed); os.makedirs(d,exist_ok=True)
imm = ver not in ('1.2','3')
ops=[("MOV",1,1,0),("IADD3.X",1,3,0),("FFMA.FTZ",1,3,0),("MUFU.RCP",1,1,0),("LDG.E.64.SYS",1,1,8),("LDG.E.U8",1,1,1),("STG.E.128",0,2,16),("LDS.U.32",1,1,4),("STS",0,2,4),("ATOMG.E.ADD.STRONG.GPU",1,2,4),("RED.E.ADD",0,2,4),("ATOMS.ADD",1,2,4),("LD.E",1,1,4),("LDL.64",1,1,8),("STL",0,2,4),("LDC.U8",1,1,1),("HMMA.884.F32.F32.STEP0",1,3,0),("BRA",0,0,0),("SHFL.IDX",1,2,0),("LDGSTS.E.BYPASS.128",0,2,16),("MEMBAR.SC.GPU",0,0,0)]
spaces={"LDS.U.32":0,"STS":0,"ATOMS.ADD":0}
lst=open(d+'/kernelslist.g','w')
for k in range(1,4):
    lst.write("MemcpyHtoD,0x%016x,%d\n"%(0x7f0000000000+k*4096,1000*k)); lst.write("kernel-%d.traceg\n"%k)
    f=open(d+'/kernel-%d.traceg'%k,'w')
    g=(random.randint(1,3),random.randint(1,2),random.randint(1,2)); b=(random.choice([32,48,96]),random.randint(1,2),1)
    f.write("-kernel name = _Z%dkernel\n-kernel id = %d\n-grid dim = (%d,%d,%d)\n-block dim = (%d,%d,%d)\n-shmem = 1024\n-nregs = 32\n-binary version = 70\n-cuda stream id = %d\n-shmem base_addr = 0x00007f5500000000\n-local mem base_addr = 0x00007f5501000000\n-nvbit version = 1.5.5\n-accelsim tracer version = %s\n"%((k,k)+g+b+(k%2,ver)))
    if imm: f.write("-enable lineinfo = %d\n"%li)
    f.write("\n#traces format = %sPC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n"%("[line_num] " if li else ""))
    code=[]
    for pc in range(24):
        op,nd,ns,w=random.choice(ops)
        code.append((pc*16,op,["R%d"%random.choice([0,4,7,20,255]) for _ in range(nd)],["R%d"%random.choice([2,3,9,255]) for _ in range(ns)],w,random.choice([0,-8,4,1024]),10+pc//3))
    warps=(b[0]*b[1]*b[2]+31)//32
    def line(i,mask):
        pc,op,ds,ss,w,im,ln=i
        s=("%d "%ln if li else "")+"%04x %08x %d %s%s %d %s%d"%(pc,mask,len(ds),"".join(r+" " for r in ds),op,len(ss),"".join(r+" " for r in ss),w)
        if w:
            n=bin(mask).count('1')
            if n==0: s+=" 1 0x0 0"
            else:
                if op.startswith(("LDS","STS","ATOMS")) : base=random.randrange(0,900,4)
                elif op.startswith(("LDL","STL")): base=0x7f5501000000+random.randrange(0,4000,4)
                elif op=="LD.E": base=random.choice([0x7f5500000000+random.randrange(0,900,4),0x7f5501000000+random.randrange(0,4000,4),0x7f0000000000+random.randrange(0,1<<20,4)])
                else: base=0x7f0000000000+random.randrange(0,1<<20,4)
                if op.startswith("LDC"): base=random.randrange(0,4096)
                low=(mask & -mask); contiguous = mask & (mask+low)==0
                if random.random()<.6: st=random.choice([0,4,8,16,128]); a=[base+st*j for j in range(n)]
                else: a=[base+random.randrange(0,64,4)*(1 if 'L' in op[2:3] else 16) for j in range(n)]; a[0]=base
                eq=n>1 and contiguous and all(a[j]-a[j-1]==a[1]-a[0] for j in range(1,n))
                if eq: s+=" 1 0x%x %d"%(a[0],a[1]-a[0])
                else: s+=" 2 0x%x"%a[0]+"".join(" %d"%(a[j]-a[j-1]) for j in range(1,n))
        return s+(" %d"%im if imm else "")+(" NoVal" if ver=='6' else "")+"\n"
    ex=(24*16,"EXIT",[],[],0,0,30); bar=(25*16,"BAR.SYNC.DEFER_BLOCKING",[],[],0,0,29)
    for z in range(g[2]):
     for y in range(g[1]):
      for x in range(g[0]):
        f.write("#BEGIN_TB\n\nthread block = %d,%d,%d\n\n"%(x,y,z))
        for w in range(warps):
            out=[line(code[0],0xffffffff)]
            pc=1
            for _ in range(random.randint(5,60)):
                mask=random.choice([0xffffffff,0xffff,0x80000000,0xf0f00,0x0,0x3,0x1])
                out.append(line(code[pc],mask)); pc=random.choice([pc+1,pc+1,pc+1,random.randrange(24)])%24
            out.append(line(bar,0xffffffff)); out.append(line(ex,0xffffffff))
            f.write("warp = %d\ninsts = %d\n%s\n"%(w,len(out),"".join(out)))
        f.write("#END_TB\n\n")
