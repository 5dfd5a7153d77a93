var B,yn,qt,Se,Mt,ft,bn,pt,kn,Ht,Ut,Lr,Qe=Symbol.for("pv"),ht={},gt=[],Ir=/^m(i|n|o|s|text|space)$/,jt=Array.isArray,zt=gt.slice,Re=Object.assign;function Be(e){
e&&e.parentNode&&e.remove()}function wn(e,n,r){var o,a,s,i={},l=arguments.length;for(s in n)s=="key"?o=n[s]:s=="ref"&&typeof e!="function"?a=n[s]:i[s]=n[s];return l>
2&&(i.children=l>3?zt.call(arguments,2):r),Ye(e,i,o,a,null)}function Ye(e,n,r,o,a){var s={type:e,props:n,key:r,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Qe,__v:a||++yn,__i:-1,__u:0};return!a&&B.vnode&&B.
vnode(s),s}function y(e){return e.children}function qe(e,n){this.props=e,this.context=n,this.__g=0}function Ae(e,n){if(n==null)return e.__&&Ae(e.__,e.__i+1);for(var r;n<e.
__k.length;n++)if((r=e.__k[n])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Ae(e)}function Mr(e){var n,r=e.__v,o=r.__e,a=[],s=[],i=e.__P;
i&&((n=Re({constructor:Qe},r)).__v=r.__v+1,B.vnode&&B.vnode(n),Zt(i,n,r,e.__n,i.namespaceURI,32&r.__u?[o]:null,a,o||Ae(r),32&r.__u,s),n.__v=r.__v,n.__.__k[n.__i]=
n,$n(a,n,s),r.__=r.__e=null,n.__e!=o&&xn(n))}function xn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(n){return n&&(e.__e=n.__e)}),
xn(e)}function vn(e){(8&e.__g||(e.__g|=8,Se.push(e),ft++))&&Mt==B.debounceRendering||((Mt=B.debounceRendering)||queueMicrotask)(Cn)}function Cn(){try{for(var e,
n=1;Se.length;)Se.length>n&&Se.sort(bn),e=Se.shift(),n=Se.length,8&e.__g&&Mr(e)}finally{(ft=Se.length)&&(Mt||queueMicrotask)(Cn)}}function Tn(e,n,r,o,a,s,i,l,c,d,p){
var u,f,m,g,C,b,w=o.__k||gt,v=n.length;for(c=Ur(r,n,w,c,v),u=0;u<v;u++)(m=r.__k[u])!=null&&(f=~m.__i&&w[m.__i]||ht,m.__i=u,b=Zt(e,m,f,a,s,i,l,c,d,p),g=m.__e,(f.
ref!=m.ref||8&f.__u)&&(f.ref&&Wt(f.ref,null,m,f),m.ref&&p.push(m.ref,m.__c||g,m)),C=C||g,4&m.__u?(c=Sn(m,c,e,!f.__v),f.__e&&(f.__e=null)):typeof m.type=="functi\
on"&&b!==void 0?c=b:g&&(c=g.nextSibling),m.__u&=-21);return r.__e=C,c}function Ur(e,n,r,o,a){var s,i,l,c,d,p,u,f,m,g=r.length,C=g,b=0,w=0,v=e.__k=Array(a);for(s=
0;s<a;s++)(i=n[s])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=v[s]=Ye(null,i):jt(i)?i=v[s]=Ye(y,{children:i}):
i.constructor===Qe&&i.__b?i=v[s]=Ye(i.type,i.props,i.key,i.ref,i.__v):v[s]=i,c=s+b,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=qr(i,r,c,C))&&(C--,(l=r[d])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,d==c-1?b--:d==c+1?b++:d!=c&&(d>c?b--:b++,w=1)):(~d||(a>g?b--:a<g&&b++),typeof i.type!="function"&&(i.__u|=4))):v[s]=null;if(w){for(p=[],u=[],
s=0;s<a;s++)if((i=v[s])&&16&i.__u){for(b=0,f=p.length;b<f;)p[m=b+f>>1]<i.__i?b=m+1:f=m;p[b]=i.__i,u[s]=b+1}for(b=p.length;s--;)u[s]&&(u[s]==b?b--:v[s].__u|=4)}if(C)
for(s=0;s<g;s++)!(l=r[s])||2&l.__u||(l.__e==o&&(o=Ae(l)),Jt(l,l));return o}function Sn(e,n,r,o){var a,s,i,l;if(typeof e.type=="function"){if(e.props.__P)return n;
if(a=e.__k)for(s=0;s<a.length;s++)a[s]&&(a[s].__=e,n=Sn(a[s],n,r,!1));return n}for(n&&!n.parentNode&&(n=Ae(e))&&!n.parentNode&&(n=null),i=e.__e,l=n;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!o&&r.moveBefore&&i.parentNode?r.moveBefore(i,n):r.insertBefore(i,n||null)),n=i;(n=n&&n.nextSibling)&&n.nodeType==8&&!n.data.startsWith(
"$s"););return n}function qr(e,n,r,o){var a,s=e.key,i=e.type,l=n[r],c=l&&!(2&l.__u);if(l===null&&s==null||c&&s==l.key&&i==l.type)return r;if(o>(c?1:0)){for(a=r-1;a>=0;a--)if((l=
n[a])&&!(2&l.__u)&&s==l.key&&i==l.type)return a;for(a=r+1;a<n.length;a++)if((l=n[a])&&!(2&l.__u)&&s==l.key&&i==l.type)return a}return-1}function _n(e,n,r){r==null&&
(r=""),n[0]=="-"?e.setProperty(n,r):e[n]=r}function dt(e,n,r,o,a){var s,i;if(n=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof o=="string"&&(e.style.
cssText=o=""),o)for(n in o)r&&n in r||_n(e.style,n);if(r)for(n in r)o&&r[n]==o[n]||_n(e.style,n,r[n])}else if(n[0]=="o"&&n[1]=="n")typeof r!="function"&&(r=null),
typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[n]=r,r&&o||(i=Ut[n]||(Ut[n]=Hr(n)),(e.__a||(e.__a={}))[n]=Ht,s=n!=(n=n.replace(kn,"$1")),(n=n.slice(2))[0]<"a"&&
(n=n.toLowerCase()),r?e.addEventListener(n,i,s):e.removeEventListener(n,i,s));else{if(a=="http://www.w3.org/2000/svg")n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(n!="width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)
try{return void(e[n]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&n[4]!="-"?e.removeAttribute(n):e.setAttribute(n,n=="popover"&&r==1?"":r)}}function Hr(e){
return function(n){var r=this.__e;if(r){if(r=r[e],n[pt]==null)n[pt]=Ht++;else if(n[pt]<this.__a[e])return;return r(B.event?B.event(n):n)}}}function Zt(e,n,r,o,a,s,i,l,c,d){
var p,u,f,m,g,C,b,w,v,_,$,I,L,pe,Q,T,k,Z,D=n.type;if(n.constructor!==Qe)return null;128&r.__u&&(c=32&r.__u,p=r.__c.__z)&&(n.__u|=c,u=s=[],p.nodeType==8?l=mt(p,s):
s.push(p),l=s[0]||l),(p=B.__b)&&p(n);e:if(typeof D=="function"){f=i.length;try{if(w=n.props,v=(p=D.prototype)&&p.render,_=(p=D.contextType)&&o[p.__c],$=p?_?_.props.
value:p.__:o,(m=r.__c)?(n.__c=m,2&m.__g&&(m.__g|=1)):(v?n.__c=m=new D(w,$):(n.__c=m=new qe(w,$),m.constructor=D,m.render=zr),_&&_.sub(m),m.state||(m.state={}),m.
__n=o,m.__g|=8,m.__h=[],m.__k=[]),v&&(m.__s||(m.__s=m.state),D.getDerivedStateFromProps&&(m.__s==m.state&&(m.__s=Re({},m.__s)),Re(m.__s,D.getDerivedStateFromProps(
w,m.__s)))),g=m.props,C=m.state,m.__v=n,r.__c){if(w!==g&&v&&!D.getDerivedStateFromProps&&m.componentWillReceiveProps&&m.componentWillReceiveProps(w,$),n.__v==r.
__v&&!(8&m.__g)||!(4&m.__g)&&m.shouldComponentUpdate&&m.shouldComponentUpdate(w,m.__s,$)===!1){n.__v!=r.__v&&(m.props=w,m.state=m.__s,m.__g&=-9),n.__e=r.__e,n.__k=
r.__k,n.__k.some(function(W){W&&(W.__=n)}),gt.push.apply(m.__h,m.__k),m.__k=[],m.__h.length&&i.push(m),l=Ae(r);break e}m.componentWillUpdate&&m.componentWillUpdate(
w,m.__s,$),v&&m.componentDidUpdate&&m.__h.push(function(){m.componentDidUpdate(g,C,b)})}else v&&!D.getDerivedStateFromProps&&m.componentWillMount&&m.componentWillMount(),
v&&m.componentDidMount&&m.__h.push(m.componentDidMount);m.context=$,m.props=w,m.__P=e,m.__g&=-5,I=B.__r,L=v?25:0;do m.__g&=-9,I&&I(n),p=m.render(m.props,m.state=
m.__s,m.context);while(8&m.__g&&++L<25);v&&(gt.push.apply(m.__h,m.__k),m.__k=[]),m.state=m.__s,m.getChildContext&&(o=Re({},o,m.getChildContext())),v&&r.__c&&m.getSnapshotBeforeUpdate&&
(b=m.getSnapshotBeforeUpdate(g,C)),pe=p&&p.type===y&&p.key==null?p.props.children:p,w.__P&&(p=l,a=(e=w.__P).namespaceURI,c=s=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(W){W&&Jt(W,W)}),r.__k=null),l=r.__k?Ae(r,0):null),l=Tn(e,jt(pe)?pe:[pe],n,r,o,a,s,i,l,c,d),w.__P&&(n.__e=null,l=p),n.__u&=-161,u&&u.some(Be),m.__h.
length&&i.push(m),1&m.__g&&(m.__g&=-4)}catch(W){if(i.length=f,n.__v=null,c||s)if(W&&W.then){if(n.__u|=128|c,s){for(~(k=s.indexOf(l||void 0))||(k=s.length);(Z=s[k-
1])&&Z.nodeType==8;)k--;for(;k<s.length;k++)if(Z=s[k])if(s[k]=null,Q){if(Z==T)break}else{if(Z.nodeType!=8)break;Z.data.startsWith("$s")&&(T=mt(Q=Z))}}if(!Q){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(p=mt(Q=n.__c.__z||(n.__c.__z=Q)))?(n.__e=Q,l=p):n.__e=l,l=l&&l.nextSibling}else s&&s.some(Be);else n.__e=r.__e;
n.__k||(n.__k=r.__k||[]),W&&W.then||An(n),B.__e(W,n,r)}}else l=n.__e=jr(r.__e,n,r,o,a,s,i,c,d,e);return(p=B.diffed)&&p(n),l}function mt(e,n){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}n&&n.push(
e)}}function An(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(An))}function $n(e,n,r){for(var o=0;o<r.length;)Wt(r[o++],r[o++],r[o++]);B.__c&&B.__c(n,e),e.some(
function(a){try{e=a.__h,a.__h=[],e.some(function(s){s.call(a)})}catch(s){B.__e(s,a.__v)}})}function jr(e,n,r,o,a,s,i,l,c,d){var p,u,f,m,g,C,b,w,v=r.props||ht,_=n.
props,$=n.type;if($=="svg"?a="http://www.w3.org/2000/svg":$=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),s){for(p=0;p<s.
length;p++)if((g=s[p])&&($?g.localName==$:g.nodeType==3)){e=g,s[p]=null;break}}if(!e){if(w=d.ownerDocument||document,!$)return w.createTextNode(_);e=w.createElementNS(
a,$,_.is?_:d),l&&(B.__m&&B.__m(n,s),l=!1),s=null}if($){if(d=$=="template"&&e.content||e,s=$=="textarea"&&_.defaultValue!=null?null:s&&zt.call(d.childNodes),!l&&
s)for(v={},p=0;p<e.attributes.length;p++)v[(g=e.attributes[p]).name]=g.value;for(p in v)g=v[p],p=="dangerouslySetInnerHTML"?f=g:p=="children"||p in _||p=="value"&&
"defaultValue"in _||p=="checked"&&"defaultChecked"in _||dt(e,p,null,g,a);for(p in _)g=_[p],p=="children"?m=g:p=="dangerouslySetInnerHTML"?u=g:p=="value"?C=g:p==
"checked"?b=g:l&&typeof g!="function"||v[p]===g||dt(e,p,g,v[p],a);u?(l||f&&(u.__html==f.__html||u.__html==e.innerHTML)||(e.innerHTML=u.__html),n.__k=[]):(f&&(e.
textContent=""),($=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&Ir.test($))&&(a="http://www.w3.org/1999/xhtml"),Tn(d,jt(m)?m:[m],n,r,o,a,s,i,s?s[0]:
r.__k&&Ae(r,0),l,c),s&&s.some(Be)),l&&$!="textarea"||(p="value",$=="progress"&&C==null?e.removeAttribute(p):C==null||C===e[p]&&($!="progress"||C)||dt(e,p,C,v[p],
a),p="checked",b!=null&&b!=e[p]&&dt(e,p,b,v[p],a))}else v===_||l&&e.data==_||(e.data=_);return e}function Wt(e,n,r,o){try{typeof e=="function"?n?n.__x=e(n)||1:o&&
(o=o.__c||o.__e)&&(n=o.__x)&&(o.__x=null,typeof n=="function"?n():e(null)):e.current=n}catch(a){B.__e(a,r)}}function Jt(e,n,r){var o,a,s,i;if(B.unmount&&B.unmount(
e),!(o=e.ref)||o.current&&o.current!=e.__e||Wt(o,null,n,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){B.__e(l,n)}o.__P=o.__n=null}
if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&Jt(o[i],n,typeof e.type!="function"||r&&!e.props.__P);!r&&(o=e.__c)&&(o=o.__z)&&(a=mt(o,s=[]))&&(o==e.__e&&s.some(Be),Be(
a),Be(o)),r||Be(e.__e),e.__e=e.__c=e.__=null}function zr(e,n,r){return this.constructor(e,r)}function Pn(e,n){var r,o,a,s;B.__&&B.__(e,n),n.nodeType==9&&(n=n.documentElement),
o=(r=e&&32&e.__u)?null:n.__k,n.__k=Ye(y,{children:[e]}),a=[],s=[],Zt(n,n.__k,o||ht,ht,n.namespaceURI,o?null:n.firstChild?zt.call(n.childNodes):null,a,o?o.__e:n.
firstChild,r,s),$n(a,n.__k,s),n.__k.props.children=null}B={__e:function(e,n,r,o){for(var a,s,i;n=n.__;)if((a=n.__c)&&!(1&a.__g)){a.__g|=4;try{if((i=(s=a.constructor)&&s.getDerivedStateFromError)&&a.setState(s.getDerivedStateFromError(
e)),a.componentDidCatch&&(a.componentDidCatch(e,o||{}),i=1),i&&8&a.__g)return void(a.__g|=2)}catch(l){e=l}}throw ft=0,e}},yn=0,qt=function(e){return e!=null&&e.
constructor===Qe},qe.prototype.setState=function(e,n){var r=this.__s;r&&r!=this.state||(r=this.__s=Re({},this.state)),typeof e=="function"&&(e=e(Re({},r),this.props)),
e&&(Re(r,e),this.__v&&(n&&this.__k.push(n),vn(this)))},qe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),vn(this))},qe.prototype.render=
y,Se=[],ft=0,bn=function(e,n){return e.__v.__b-n.__v.__b},pt=Symbol(),kn=/(PointerCapture)$|Capture$/i,Ht=0,Ut={},Lr=0;var He,V,Kt,En,Vt=Object.is,vt=0,Mn=[],Gt=[],K=B,Nn=K.__b,Bn=K.__r,Rn=K.diffed,Dn=K.__c,On=K.unmount,Fn=K.__;function _t(e,n){K.__h&&K.__h(V,e,vt||n),vt=0;var r=V.
__H||(V.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return vt=1,Zr(qn,e)}function Zr(e,n,r){var o=_t(He++,2);if(o.t=e,!o.__c&&
(o.__=[r?r(n):qn(void 0,n),function(s){var i=(o.__N||o.__)[0],l=o.t(i,s);Vt(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=V,!V.__f)){V.__f=!0;var a=V.shouldComponentUpdate;
V.shouldComponentUpdate=function(s,i,l){var c=this.__H;if(!c)return!0;var d=!1,p=this.props!=s;if(c.__.some(function(f){f.__N&&(d=!0,Vt(f.__[0],f.__N[0])||(p=!0))}),
a){var u=a.call(this,s,i,l);return d?u||p:u}return!d||p}}return o.__}function J(e,n){var r=_t(He++,3);!K.__s&&Un(r.__H,n)&&(r.__P=!0,r.__=e,r.u=n,V.__H.__h.push(
r))}function ie(e){return vt=5,yt(function(){return{current:e}},[])}function yt(e,n){var r=_t(He++,7);return Un(r.__H,n)&&(r.__=e(),r.__H=n),r.__}function tt(){var e=_t(He++,11);if(!e.__){for(var n=V.__v;!n.__m&&n.__;)n=n.__;var r=n.__m||(n.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Wr(){var e;
do{for(;e=Gt.shift();)try{et(e)}catch(r){K.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Mn.shift();){var n=e.__H;if(e.__P&&n)try{n.__h.some(et),n.__h.some(Xt),n.__h=[]}catch(r){
n.__h=[],K.__e(r,e.__v)}}}while(Gt.length)}K.__b=function(e){V=null,Nn&&Nn(e)},K.__=function(e,n){e&&n.__k&&n.__k.__m&&(e.__m=n.__k.__m),Fn&&Fn(e,n)},K.__r=function(e){
Bn&&Bn(e),He=0;var n=(V=e.__c).__H;n&&(Kt==V?V.__h=[]:(n.__h.some(et),n.__h.some(Xt),He=0),n.__h=[],n.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Kt=V},K.diffed=function(e){Rn&&Rn(e);var n=e.__c;n&&n.__H&&(n.__H.__h.length&&In(Mn.push(n)),n.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Kt=V=null},K.__c=function(e,n){
n.some(function(r){try{r.__h.some(et),r.__h=r.__h.filter(function(o){return!o.__||Xt(o)})}catch(o){r.__h=[function(){throw o}]}}),Dn&&Dn(e,n)},K.unmount=function(e){
On&&On(e);var n,r,o=e.__c;o&&o.__H&&(o.__H.__.some(function(a){try{if(a.__P&&a.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}a.__P=r,
In(Gt.push(a))}else et(a)}catch(s){n=s}}),o.__H=void 0,n&&K.__e(n,o.__v))};var Ln=typeof requestAnimationFrame=="function";function Jr(e){var n,r=function(){clearTimeout(
o),Ln&&cancelAnimationFrame(n),setTimeout(e)},o=setTimeout(r,35);Ln&&(n=requestAnimationFrame(r))}function In(e){e!=1&&En==K.requestAnimationFrame||((En=K.requestAnimationFrame)||
Jr)(Wr)}function et(e){var n=V,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),V=n}function Xt(e){var n=V;e.__c=e.__(),V=n}function Un(e,n){return!e||e.length!=
n.length||n.some(function(r,o){return!Vt(r,e[o])})}function qn(e,n){return typeof n=="function"?n(e):n}var Kr=Symbol.for("preact-signals");function xt(){if(ke>1)ke--;else{var e,n=!1;for((function(){var a=kt;for(kt=void 0;a!==void 0;){var s=a.S;if(s.v===a.v)for(var i=s.
t;i!==void 0;i=i.x)i.i===a.i&&(i.i=s.i);a=a.o}})();rt!==void 0;){var r=rt;for(rt=void 0,bt++;r!==void 0;){var o=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&jn(r))try{r.
c()}catch(a){n||(e=a,n=!0)}r=o}}if(bt=0,ke--,n)throw e}}function Qt(e){if(ke>0)return e();Yt=++Vr,ke++;try{return e()}finally{xt()}}var nt,U=void 0;function at(e){
var n=U,r=nt;U=void 0,nt=void 0;try{return e()}finally{U=n,nt=r}}var rt=void 0,ke=0,bt=0,Vr=0,Yt=0,kt=void 0,wt=0;function Hn(e){if(U!==void 0){var n=e.n;if(n===
void 0||n.t!==U)return n={i:0,S:e,p:U.s,n:void 0,t:U,e:void 0,x:void 0,r:n},U.s!==void 0&&(U.s.n=n),U.s=n,e.n=n,32&U.f&&e.S(n),n;if(n.i===-1)return n.i=0,n.n!==
void 0&&(n.n.p=n.p,n.p!==void 0&&(n.p.n=n.n),n.p=U.s,n.n=void 0,U.s.n=n,U.s=n),n}}function Y(e,n){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
n?.watched,this.Z=n?.unwatched,this.name=n?.name}Y.prototype.brand=Kr;Y.prototype.h=function(){return!0};Y.prototype.S=function(e){var n=this,r=this.t;r!==e&&e.
e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:at(function(){var o;(o=n.W)==null||o.call(n)}))};Y.prototype.U=function(e){var n=this;if(this.t!==void 0){var r=e.e,
o=e.x;r!==void 0&&(r.x=o,e.e=void 0),o!==void 0&&(o.e=r,e.x=void 0),e===this.t&&(this.t=o,o===void 0&&at(function(){var a;(a=n.Z)==null||a.call(n)}))}};Y.prototype.
subscribe=function(e){var n=this;return _e(function(){var r=n.value;at(function(){return e(r)})},{name:"sub"})};Y.prototype.valueOf=function(){return this.value};
Y.prototype.toString=function(){return this.value+""};Y.prototype.toJSON=function(){return this.value};Y.prototype.peek=function(){var e=this;return at(function(){
return e.value})};Object.defineProperty(Y.prototype,"value",{get:function(){var e=Hn(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.v){
if(bt>100)throw new Error("Cycle detected");(function(r){ke!==0&&bt===0&&r.l!==Yt&&(r.l=Yt,kt={S:r,v:r.v,i:r.i,o:kt})})(this),this.v=e,this.i++,wt++,ke++;try{for(var n=this.
t;n!==void 0;n=n.x)n.t.N()}finally{xt()}}}});function ae(e,n){return new Y(e,n)}function jn(e){for(var n=e.s;n!==void 0;n=n.n)if(n.S.i!==n.i||!n.S.h()||n.S.i!==
n.i)return!0;return!1}function zn(e){for(var n=e.s;n!==void 0;n=n.n){var r=n.S.n;if(r!==void 0&&(n.r=r),n.S.n=n,n.i=-1,n.n===void 0){e.s=n;break}}}function Zn(e){
for(var n=e.s,r=void 0;n!==void 0;){var o=n.p;n.i===-1?(n.S.U(n),o!==void 0&&(o.n=n.n),n.n!==void 0&&(n.n.p=o)):r=n,n.S.n=n.r,n.r!==void 0&&(n.r=void 0),n=o}e.s=
r}function De(e,n){Y.call(this,void 0,n),this.x=e,this.s=void 0,this.g=wt-1,this.f=4}De.prototype=new Y;De.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;
if((36&this.f)==32||(this.f&=-5,this.g===wt))return!0;if(this.g=wt,this.f|=1,this.i>0&&!jn(this))return this.f&=-2,!0;var e=U;try{zn(this),U=this;var n=this.x();
(16&this.f||this.v!==n||this.i===0)&&(this.v=n,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return U=e,Zn(this),this.f&=-2,!0};De.prototype.S=function(e){
if(this.t===void 0){this.f|=36;for(var n=this.s;n!==void 0;n=n.n)n.S.S(n)}Y.prototype.S.call(this,e)};De.prototype.U=function(e){if(this.t!==void 0&&(Y.prototype.
U.call(this,e),this.t===void 0)){this.f&=-33;for(var n=this.s;n!==void 0;n=n.n)n.S.U(n)}};De.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var e=this.t;e!==
void 0;e=e.x)e.t.N()}};Object.defineProperty(De.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Hn(this);if(this.h(),e!==void 0&&
(e.i=this.i),16&this.f)throw this.v;return this.v}});function Oe(e,n){return new De(e,n)}function Wn(e){var n=e.j;if(e.j=void 0,typeof n=="function"){ke++;var r=U;
U=void 0;try{n()}catch(o){throw e.f&=-2,e.f|=8,en(e),o}finally{U=r,xt()}}}function en(e){for(var n=e.s;n!==void 0;n=n.n)n.S.U(n);e.x=void 0,e.s=void 0,Wn(e)}function Gr(e){
if(U!==this)throw new Error("Out-of-order effect");Zn(this),U=e,this.f&=-2;try{8&this.f&&en(this)}finally{xt()}}function je(e,n){this.x=e,this.j=void 0,this.s=void 0,
this.u=void 0,this.f=32,this.name=n?.name,nt&&nt.push(this)}je.prototype.c=function(){var e=this.S();try{if(8&this.f||this.x===void 0)return;var n=this.x();typeof n==
"function"&&(this.j=n)}finally{e()}};je.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,Wn(this),zn(this),ke++;var e=U;
return U=this,Gr.bind(this,e)};je.prototype.N=function(){2&this.f||(this.f|=2,this.u=rt,rt=this)};je.prototype.d=function(){this.f|=8,1&this.f||en(this)};je.prototype.
dispose=function(){this.d()};function _e(e,n){var r=new je(e,n);try{r.c()}catch(a){throw r.d(),a}var o=r.d.bind(r);return o[Symbol.dispose]=o,o}var Jn,Tt,Ct,Xr=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var Kn=[];_e(function(){Jn=this.N})();function ze(e,n){B[e]=n.bind(null,B[e]||function(){})}function ot(e){if(Ct){var n=Ct;Ct=void 0,n()}Ct=e&&e.S()}function Vn(e){
var n=this,r=e.data,o=Qr(r);o.name="ReactiveDom",o.value=r;var a=yt(function(){for(var l=n,c=n.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var d=Oe(function(){var m=o.
value.value;return m===0?0:m===!0?"":m||""}),p=Oe(function(){return!Array.isArray(d.value)&&!qt(d.value)}),u=_e(function(){if(this.N=Gn,p.value){var m=d.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=m)}}),f=n.__$u.d;return n.__$u.d=function(){u(),f.call(this)},[p,d]},[]),s=a[0],i=a[1];return s.value?i.
peek():i.value}Vn.displayName="ReactiveTextNode";Object.defineProperties(Y.prototype,{constructor:{configurable:!0,value:wn(y,null).constructor},type:{configurable:!0,
value:Vn},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});ze("__b",function(e,n){if(ot(),
Tt=void 0,typeof n.type=="string"){var r,o=n.props;for(var a in o)if(a!=="children"){var s=o[a];s instanceof Y&&(r||(n.__np=r={}),r[a]=s,o[a]=s.peek())}}e(n)});
ze("__r",function(e,n){if(e(n),n.type!==y){ot();var r,o=n.__c;o&&(o.__$f&=-2,(r=o.__$u)===void 0&&(o.__$u=r=(function(a,s){var i;return _e(function(){i=this},{name:s}),
i.c=a,i})((function(a){return function(){var s;Xr&&((s=this.y)==null||s.call(this)),a.__$f|=1,a.setState({})}})(o),typeof n.type=="function"?n.type.displayName||
n.type.name:""))),Tt=o,ot(r)}});ze("__e",function(e,n,r,o){ot(),Tt=void 0,e(n,r,o)});ze("diffed",function(e,n){ot(),Tt=void 0;var r;if(typeof n.type=="string"&&
(r=n.__e)){var o=n.__np,a=n.props,s=r.U;if(s)for(var i in s){var l=s[i];l===void 0||o&&i in o||(l.d(),s[i]=void 0)}if(o){s||(s={},r.U=s);for(var c in o){var d=s[c],
p=o[c];d===void 0?(d=Yr(r,c,p,a),s[c]=d):d.o(p,a)}}}e(n)});function Yr(e,n,r,o){var a=n in e&&e.ownerSVGElement===void 0,s=ae(r);return{o:function(i,l){s.value=
i,o=l},d:_e(function(){this.N=Gn;var i=s.value.value;o[n]!==i&&(o[n]=i,a?e[n]=i:i!=null&&(i!==!1||n[4]==="-")?e.setAttribute(n,i):e.removeAttribute(n))})}}ze("u\
nmount",function(e,n){if(typeof n.type=="string"){var r=n.__e;if(r){var o=r.U;if(o){r.U=void 0;for(var a in o){var s=o[a];s&&s.d()}}}var i=n.__np;if(i){var l=n.
props;for(var c in i)l[c]=i[c]}n.__np=void 0}else{var d=n.__c;if(d){d.__$f|=8;var p=d.__$u;p&&(d.__$u=void 0,p.d())}}e(n)});ze("__h",function(e,n,r,o){o<3&&(n.__$f|=
2),e(n,r,o)});qe.prototype.shouldComponentUpdate=function(e,n){if(this.__R)return!0;var r=this.__$u,o=r&&r.s!==void 0;for(var a in n)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var s=2&this.__$f;if(!(o||s||4&this.__$f)||1&this.__$f)return!0}else if(!(o||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function Qr(e,n){return yt(function(){return ae(e,n)},[])}var ea=function(e){queueMicrotask(function(){queueMicrotask(e)})};function ta(){Qt(function(){for(var e;e=Kn.shift();)Jn.call(e)})}function Gn(){Kn.push(this)===1&&(B.requestAnimationFrame||ea)(ta)}var Xn=new URL("../",document.baseURI),tn=document.querySelector('meta[name="timerbus"]'),$e={version:tn?.content??"",readOnly:tn?.dataset.readOnly==="true",hidePayloads:tn?.
dataset.hidePayloads==="true"},F=class extends Error{constructor(r,o,a,s={},i=0){super(a);this.status=r;this.code=o;this.details=s;this.retryAfter=i}status;code;details;retryAfter},
nn="timerbus-token",we=ae(sessionStorage.getItem(nn)??""),Pe=ae(null),st=ae(null);function St(e){we.value=e,e?sessionStorage.setItem(nn,e):sessionStorage.removeItem(
nn)}var At=ae(0);async function rn(e,n){let r=new Headers(n.headers);we.value&&r.set("Authorization",`Bearer ${we.value}`);let o;try{o=await fetch(new URL(e,Xn),
{...n,headers:r,cache:"no-store"})}catch(s){throw n.signal?.aborted?s:new F(0,"UNREACHABLE","The service cannot be reached: it may be stopped, or the network is\
 down.")}let a=Date.parse(o.headers.get("Date")??"");if(!Number.isNaN(a)){let s=a+500-Date.now();At.value=Math.abs(s)>2e3?s:0}return o}async function Yn(e){let n=Number(
e.headers.get("Retry-After")??0)||0;try{let r=await e.json();return new F(e.status,r.error,r.message,r.details,n)}catch{return new F(e.status,"HTTP_"+e.status,`\
The server answered ${e.status} ${e.statusText}.`,{},n)}}function it(e){let{rawJSON:n}=JSON;return n?JSON.parse(e,(o,a,s)=>typeof a=="number"&&s?.source!==void 0&&
s.source.length>15?n(s.source):a):JSON.parse(e)}async function xe(e,n,r){let o=await rn("api/v1/"+e,{method:"POST",body:JSON.stringify(n),headers:{"Content-Type":"\
application/json"},signal:r??null});if(!o.ok){let s=await Yn(o);throw s.status===401&&(st.value=s.message),s}let a=await o.text();return{data:a?it(a):void 0,late:o.
status===202}}async function O(e,n,r){return(await xe(e,n,r)).data}async function Qn(){return await(await rn("readyz",{})).json()}async function $t(){let e=await rn(
"metrics",{});if(!e.ok)throw await Yn(e);return e.text()}async function Pt(){let e=await O("caller/get",{});Pe.value=e,st.value=null}function na(e,n){let r=e.split(
"*").map(o=>o.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(n)}function er(e,n){return Pe.value?.grants.some(r=>r.verbs.
includes(e)&&r.namespaces.some(n))??!1}function oe(e,n){return(e==="read"||!$e.readOnly)&&er(e,r=>na(r,n))}function Ze(e){return(e==="read"||!$e.readOnly)&&er(e,
n=>n==="*")}var tr=Xn.href.replace(/\/$/,"");function nr(e){let[n="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:n.split("/").filter(Boolean).map(a=>{try{return decodeURIComponent(a)}catch{return a}}),
query:new URLSearchParams(r)}}var ee=ae(nr(location.hash));addEventListener("hashchange",()=>{ee.value=nr(location.hash)});function A(e,n={}){let r=Object.entries(
{ns:S.value,...n}).filter(([,o])=>o);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function ne(e,n={}){location.hash=A(e,n)}function fe(e){
let n=Object.fromEntries(ee.value.query);delete n.cursor,ne(ee.value.path,{...n,...e})}var rr="timerbus-namespace",S=Oe(()=>ee.value.query.get("ns")||localStorage.
getItem(rr)||"default");_e(()=>{localStorage.setItem(rr,S.value)});var an=ae([]);async function Et(){let e=[];for(let n;;){let r=await O("namespaces/list",{limit:200,
cursor:n});if(e=e.concat(r.namespaces),n=r.nextCursor,!n||e.length>=1e3)break}return an.value=e,e}function Nt(e,n){let r=ae(localStorage.getItem(e)??n);return _e(
()=>{localStorage.setItem(e,r.value)}),r}var le=Nt("timerbus-zone","local"),Ee=Nt("timerbus-theme","auto"),ye=Nt("timerbus-live","on"),Bt=Nt("timerbus-shortcuts",
"on");_e(()=>{Ee.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=Ee.value});var Ce=ae(null),ar=ae(Date.now());
setInterval(()=>{document.hidden||(ar.value=Date.now())},1e3);var or=Oe(()=>ar.value+At.value),lt=()=>Date.now()+At.value,We=ae([]),ra=1;function Fe(e,n="ok"){let r=ra++;
We.value=[...We.value.slice(-2),{id:r,text:e,kind:n}],setTimeout(()=>{on(r)},1e4)}function on(e){We.value=We.value.filter(n=>n.id!==e)}var sr=new Map;function aa(){return le.value==="utc"?"UTC":le.value==="schedule"&&Ce.value?Ce.value:Intl.DateTimeFormat().resolvedOptions().timeZone}function oa(e){
let n=sr.get(e);return n||(n=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:e}),sr.set(e,n)),n}function he(e,n=aa()){let r=typeof e==
"number"?e:Date.parse(e);return Number.isNaN(r)?String(e):oa(n).format(r)}function ir(e){return he(e).slice(11,16)}function ge(e){let n=Math.abs(e);if(n<1)return n===
0?"0 ms":"< 1 ms";if(n<1e3)return`${Math.round(n)} ms`;let r=n/1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<
172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}function lr(e,n){let r=(typeof e=="number"?e:Date.parse(e))-n,o=Math.abs(r)<12e4?ge(Math.round(r/1e3)*
1e3||0):ge(r);if(Math.abs(r)<500)return"now";let a=Math.abs(r)<1e4?`${Math.round(Math.abs(r)/1e3)} s`:o;return r>0?`in ${a}`:`${a} ago`}var sa=new Intl.NumberFormat(
"en-US"),P=e=>sa.format(e);function te(e,n){return`${P(e)} ${n}${e===1?"":"s"}`}var ia={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function sn(e){
let n=0;for(let[,r="0",o="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))n+=Number(r)*(ia[o]??0);return n}function j(e){return e?e.replace(/(\d+h)0m0s$/,
"$1").replace(/(\d+m)0s$/,"$1"):""}function Ne(e){return e?he(e,le.value==="utc"?"UTC":void 0).replace(" ","T"):""}function ce(e){if(!e)return;let n=new Date(le.
value==="utc"?`${e}Z`:e);return Number.isNaN(n.getTime())?void 0:n.toISOString()}function Rt(e){if(!e)return"";try{return new URL(e).host}catch{return e}}function Dt(e){
return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var la=Symbol.for("pv"),ca=0;function t(e,n,r,o,a,s){n||(n={});var i,l,c=n;if("ref"in c&&typeof e!="function")for(l in c={},n)l=="ref"?i=n[l]:c[l]=n[l];var d={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:la,__v:--ca,__i:-1,__u:0};return(a||s)&&(d.__source=a,d.__self=s),B.vnode&&B.vnode(d),d}function z({title:e,crumb:n,actions:r,children:o}){let a=ie(null);return J(()=>{document.title=`${e} \xB7 Timerbus`},[e]),J(()=>{a.current?.focus({preventScroll:!0}),
scrollTo(0,0)},[]),t(y,{children:[t("div",{class:"page-head",children:[t("div",{class:"page-title",children:[n&&t("div",{class:"crumb",children:n}),t("h1",{tabIndex:-1,
ref:a,children:e})]}),r&&t("div",{class:"actions",children:r})]}),o]})}function E({title:e,aside:n,children:r,wide:o,flush:a}){let s=tt();return t("section",{class:`\
card${o?" wide":""}${a?" flush":""}`,"aria-labelledby":e?s:void 0,children:[e&&t("div",{class:"card-head",children:[t("h2",{id:s,children:e}),n]}),r]})}function ue({
kind:e,children:n}){return t("span",{class:`badge ${e}`,children:n})}var Te=({status:e})=>t(ue,{kind:e,children:e});function R({at:e,only:n}){if(!e)return t("sp\
an",{class:"muted",children:"\u2013"});let r=he(e);if(n==="absolute")return t("time",{dateTime:e,title:e,children:r});let o=lr(e,or.value);return n==="relative"?
t("time",{dateTime:e,title:r,children:o}):t("time",{dateTime:e,title:e,class:"time",children:[t("span",{children:r})," ",t("span",{class:"muted",children:o})]})}
function x({kind:e="",...n}){return t("button",{type:"button",...n,class:`button ${e}`})}function Ot({text:e,label:n="Copy"}){let[r,o]=h(!1);J(()=>{if(!r)return;
let s=setTimeout(()=>{o(!1)},2e3);return()=>{clearTimeout(s)}},[r]);let a=async()=>{try{await navigator.clipboard.writeText(e)}catch{let s=document.createElement(
"textarea");s.value=e,document.body.append(s),s.select(),document.execCommand("copy"),s.remove()}o(!0)};return t(x,{kind:"small",onClick:()=>{a()},children:r?"C\
opied":n})}function Ft({text:e,label:n}){return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:e})}),t(Ot,{text:e})]})}
function q({title:e,children:n,command:r}){return t("div",{class:"empty",children:[t("p",{class:"empty-title",children:e}),n&&t("p",{class:"muted",children:n}),
r&&t(Ft,{text:r,label:"Command"})]})}var ua={0:"Not reachable",401:"Not signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many req\
uests",503:"Not available",504:"Outcome unknown"};function me({error:e,again:n}){return t("div",{class:"error",role:"alert",children:[t("div",{children:[t("stro\
ng",{children:ua[e.status]??"Failed"})," ",t("code",{children:[e.status||""," ",e.code]}),t("p",{children:e.message})]}),n&&t(x,{kind:"small",onClick:n,children:"\
Try again"})]})}function H({of:e,children:n}){return t(y,{children:[e.error&&t(me,{error:e.error,again:e.again}),e.data!==void 0?n(e.data):e.loading&&t("div",{class:"\
skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})})]})}function Le({title:e,close:n,children:r,wide:o}){let a=ie(null),s=tt();return J(
()=>{let i=a.current,l=document.activeElement;return i?.showModal(),()=>{i?.close(),l?.focus()}},[]),t("dialog",{ref:a,class:o?"wide":"","aria-labelledby":s,onCancel:i=>{
i.preventDefault(),n()},children:[t("div",{class:"dialog-head",children:[t("h2",{id:s,children:e}),t(x,{kind:"icon","aria-label":"Close",onClick:n,children:"\u2715"})]}),
r]})}function cr({label:e,hint:n,children:r,error:o}){let a=tt(),s=n||o?`${a}-hint`:void 0;return t("div",{class:"field",children:[t("label",{for:a,children:e}),
r(a,s),(n||o)&&t("p",{id:s,class:o?"hint bad":"hint",children:o??n})]})}function N({label:e,value:n,set:r,hint:o,error:a,type:s="text",placeholder:i,required:l,
mono:c,step:d}){return t(cr,{label:e,hint:o,error:a,children:(p,u)=>t("input",{id:p,type:s,value:n,placeholder:i,required:l,step:d,spellcheck:!1,autocomplete:"o\
ff",class:c?"mono":"","aria-describedby":u,"aria-invalid":a?!0:void 0,onInput:f=>{r(f.currentTarget.value)}})})}function ct({label:e,value:n,set:r,hint:o,error:a,
rows:s=5}){return t(cr,{label:e,hint:o,error:a,children:(i,l)=>t("textarea",{id:i,rows:s,value:n,class:"mono",spellcheck:!1,"aria-describedby":l,"aria-invalid":a?
!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function se({label:e,value:n,set:r,options:o,hint:a,hideLabel:s}){let i=tt();return t("div",{class:"field",children:[
t("label",{for:i,class:s?"sr":"",children:e}),t("select",{id:i,value:n,onChange:l=>{r(l.currentTarget.value)},children:o.map(([l,c])=>t("option",{value:l,selected:l===
n,children:c},l))}),a&&t("p",{class:"hint",children:a})]})}function be({of:e}){return t("dl",{class:"facts",children:e.filter(([,n])=>n!==void 0&&n!==""&&n!==null).
map(([n,r])=>t("div",{children:[t("dt",{children:n}),t("dd",{children:r})]},n))})}function re({caption:e,head:n,children:r,stack:o}){return t("div",{class:"tabl\
e-wrap",tabIndex:0,role:"region","aria-label":e,children:t("table",{class:o?"stack":"",children:[t("caption",{class:"sr",children:e}),t("thead",{children:t("tr",
{children:n.map((a,s)=>t("th",{scope:"col",children:a},s))})}),t("tbody",{children:r})]})})}function Je({value:e,label:n}){let r=typeof e=="string"?e:JSON.stringify(
e,null,2);return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:r})}),t(Ot,{text:r})]})}function ur({bars:e,label:n,
every:r}){let l=Math.max(1,...e.map(u=>u.value)),c=da(l),d=920/Math.max(1,e.length),p=u=>158*(1-u/c)+6;return t(y,{children:[t("svg",{class:"chart",viewBox:"0 0\
 960 186",role:"img","aria-label":n,preserveAspectRatio:"none",children:[[0,c/2,c].map(u=>t("g",{children:[t("line",{x1:40,x2:960,y1:p(u),y2:p(u),class:"grid"}),
t("text",{x:34,y:p(u)+4,"text-anchor":"end",children:Ie(u)})]},u)),e.map((u,f)=>t("g",{children:[u.value>0&&t("rect",{class:"bar",x:40+f*d+1,width:Math.max(1,d-
2),y:p(u.value),height:Math.max(1.5,p(0)-p(u.value)),rx:"1.5",children:t("title",{children:u.title})}),f%r===0&&t("text",{x:40+f*d,y:182,children:u.label})]},f))]}),
t("details",{class:"as-table",children:[t("summary",{children:"As a table"}),t(re,{caption:n,head:["From","Timers"],children:e.filter(u=>u.value>0).map(u=>t("tr",
{children:[t("td",{children:u.label}),t("td",{class:"num",children:u.value})]},u.label+u.title))})]})]})}function da(e){let n=10**Math.floor(Math.log10(e));for(let r of[
1,2,5,10])if(r*n>=e)return Math.max(2,r*n);return e}function Ie(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e4?`${+(e/1e3).toFixed(1)}k`:e>=1e3?`${+(e/1e3).toFixed(
1)}k`:String(+e.toFixed(1))}function pa({values:e}){if(e.length<2)return t("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let n=Math.max(...e,
1e-9),r=e.map((o,a)=>`${(a/(e.length-1)*100).toFixed(1)},${(22-o/n*20).toFixed(1)}`);return t("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"non\
e","aria-hidden":"true",children:[t("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),t("polyline",{points:r.join(" "),class:"line"})]})}function G({
label:e,value:n,hint:r,kind:o="",spark:a,href:s}){let i=t(y,{children:[t("span",{class:"tile-label",children:e}),t("span",{class:"tile-value",children:n}),t("sp\
an",{class:"tile-hint",children:r}),a&&t(pa,{values:a})]});return s?t("a",{class:`tile ${o}`,href:s,children:i}):t("div",{class:`tile ${o}`,children:i})}function ln(e){return e instanceof F?e:new F(0,"UNEXPECTED",String(e))}function de({title:e,children:n,verb:r,danger:o,path:a,body:s,done:i,close:l,after:c}){let[
d,p]=h(),[u,f]=h(!1),m=async()=>{let g=s();if(typeof g=="string"){p(new F(0,"INCOMPLETE",g));return}f(!0);try{let{late:C}=await xe(a,g);Fe(C?`${i} An earlier de\
livery may have been sent.`:i,C?"warn":"ok"),l(),c()}catch(C){p(ln(C)),f(!1)}};return t(Le,{title:e,close:l,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},
children:[n,d&&t(me,{error:d}),d?.status===409&&t("p",{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present s\
tate."}),t("div",{class:"dialog-foot",children:[t(x,{onClick:l,children:"Cancel"}),t("button",{type:"submit",class:`button ${o?"danger":"primary"}`,disabled:u,children:u?
"Sending\u2026":r})]})]})})}var ma=250;function Ke({action:e,close:n,after:r}){let[o,a]=h("ask"),[s,i]=h(),[l,c]=h(0),[d,p]=h({matched:0,applied:0,late:0,skipped:0,
pages:0}),[u,f]=h(),m=ie(new AbortController),g=ie(void 0),C=ie(!1),b=async()=>{a("counting"),f(void 0),m.current=new AbortController;try{i(await e.count(m.current.
signal,c)),a("counted")}catch(I){if(m.current.signal.aborted)return;f(ln(I)),a("ask")}},w=async()=>{a("running"),f(void 0),C.current=!1;let I=d;try{do{let{data:L}=await xe(
e.path,{...e.filter,limit:ma,cursor:g.current});g.current=L.nextCursor,I={matched:I.matched+L.matched,applied:I.applied+L.applied,late:I.late+(L.late??0),skipped:I.
skipped+L.skipped,pages:I.pages+1},p(I)}while(g.current&&!C.current);a(g.current?"cancelled":"ended")}catch(L){f(ln(L)),a("failed")}r()},v=()=>{m.current.abort(),
C.current=!0,n()},_=s?.n??0,$=`${te(d.applied,"timer")} ${e.done}`+(d.skipped?`, ${P(d.skipped)} skipped`:"")+(d.late?`, ${P(d.late)} of them late`:"");return t(
Le,{title:e.title,close:v,children:[t("p",{children:e.describe}),o==="counting"&&t("p",{role:"status",children:["Counting\u2026 ",l>0&&P(l)]}),o==="counted"&&s&&
t("p",{role:"status",class:"callout",children:["Dry run: ",s.more?"at least ":"",te(s.n,"timer")," would be ",e.done,". Nothing was changed."]}),d.pages>0&&t("d\
iv",{class:"progress-wrap",children:[t("progress",{max:Math.max(1,_,d.matched),value:d.matched,"aria-label":"Progress"}),t("p",{role:"status",children:[o==="run\
ning"?"Working: ":o==="ended"?"Finished: ":o==="cancelled"?"Cancelled: ":"Stopped: ",$,o==="cancelled"&&". The others were not changed."]})]}),u&&t(me,{error:u}),
t("div",{class:"dialog-foot",children:[o==="running"?t(x,{kind:"danger",onClick:()=>{C.current=!0},children:"Cancel"}):t(x,{onClick:v,children:"Close"}),(o==="a\
sk"||o==="counted")&&t(x,{onClick:()=>{b()},children:"Dry run"}),(o==="ask"||o==="counted")&&t(x,{kind:e.danger?"danger":"primary",onClick:()=>{w()},children:[e.
verb," ",s?s.more?"all":P(s.n):"all"]}),(o==="cancelled"||o==="failed")&&t(x,{kind:"primary",onClick:()=>{w()},children:"Continue"})]})]})}function fa(e){let n=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let o=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!o)continue;let a={};for(let[,s="",i=""]of(o[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
a[s]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);n.push({name:o[1].slice(9),labels:a,value:Number(o[3].replace("Inf","Infinity"))})}return n}var Ve=class{at=performance.now();byName=new Map;constructor(n){
for(let r of fa(n)){let o=this.byName.get(r.name);o?o.push(r):this.byName.set(r.name,[r])}}sum(n,r={}){let o=this.byName.get(n)?.filter(a=>Object.entries(r).every(
([s,i])=>a.labels[s]===i));return o?.length?o.reduce((a,s)=>a+s.value,0):void 0}by(n,r,o={}){let a=new Map;for(let s of this.byName.get(n)??[]){if(!Object.entries(
o).every(([l,c])=>s.labels[l]===c))continue;let i=s.labels[r]??"";a.set(i,(a.get(i)??0)+s.value)}return a}quantile(n,r,o,a={}){let s=o?.by(`${r}_bucket`,"le",a),
i=[...this.by(`${r}_bucket`,"le",a)].map(([u,f])=>[u==="+Inf"?1/0:Number(u),f-(s?.get(u)??0)]).sort((u,f)=>u[0]-f[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;let c=n*
l,d=0,p=0;for(let[u,f]of i){if(f>=c)return u===1/0?d:d+(u-d)*(f===p?1:(c-p)/(f-p));d=u,p=f}return d}};var ha=6e4;function M(e,n,r){let[o,a]=h({key:""}),[s,i]=h(0),l=ie(r);l.current=r;let c=ye.value==="on";J(()=>{let p=new AbortController,u=0,f=0,m=!1,g=w=>{clearTimeout(
u),c&&n>0&&(u=window.setTimeout(()=>{C()},w))},C=async()=>{if(!(m||p.signal.aborted)&&!(document.hidden&&u!==0)){m=!0;try{let w=await l.current(p.signal);if(p.signal.
aborted)return;f=0,a({key:e,data:w})}catch(w){if(p.signal.aborted)return;f++;let v=w instanceof F?w:new F(0,"UNEXPECTED",String(w));if(a(_=>_.key===e&&_.data!==
void 0?{key:e,data:_.data,error:v}:{key:e,error:v}),v.status>=400&&v.status<500&&v.status!==429)return}finally{m=!1}g(f?Math.min(ha,n*2**f):n)}},b=()=>{!document.
hidden&&c&&C()};return document.addEventListener("visibilitychange",b),C(),()=>{p.abort(),clearTimeout(u),document.removeEventListener("visibilitychange",b)}},[
e,n,s,c]);let d=o.key===e?o:{key:e};return{data:d.data,error:d.error,loading:d.data===void 0&&d.error===void 0,again:()=>{i(p=>p+1)}}}var dr=60,ga=6e4;function va(){let e=ie([]),n=ie({fires:[],lateness:[]}),r=Ze("read");return{poll:M(`figures/${r?"":S.value}`,r?3e3:3e4,async()=>{if(!r)return pr();
let a=new Ve(await $t()),s=e.current;for(s.push(a);s.length>2&&a.at-s[1].at>ga;)s.shift();let i=s.length>1?s[0]:void 0,l=a.sum("dispatcher_fires_total"),c=a.sum(
"timers_pending"),d=i?(a.at-i.at)/1e3:0,p=i&&l!==void 0?Math.max(0,l-(i.sum("dispatcher_fires_total")??0))/d:void 0,u=m=>a.quantile(m,"dispatcher_lateness_secon\
ds",i)??a.quantile(m,"dispatcher_lateness_seconds"),f={lateness50:u(.5),lateness99:u(.99),fires:p,pending:c,overdue:a.sum("timers_overdue"),dead:a.sum("timers_d\
ead"),held:c===void 0?void 0:(a.sum("timers_paused")??0)+(a.sum("timers_parked")??0),oldest:a.sum("timers_oldest_overdue_seconds"),whole:!0,local:l!==void 0};return p!==
void 0&&(n.current.fires=[...n.current.fires,p].slice(-dr)),f.lateness99!==void 0&&(n.current.lateness=[...n.current.lateness,f.lateness99].slice(-dr)),c===void 0?
{...f,...await pr()}:f}),series:n.current}}async function pr(){let e=async i=>(await O("timers/count",{namespace:S.value,...i})).count,[n,r,o,a,s]=await Promise.
all([e({status:"scheduled"}),e({status:"scheduled",dueBefore:new Date(lt()).toISOString()}),e({status:"dead"}),e({status:"paused"}),e({status:"parked"})]);return{
pending:n,overdue:r,dead:o,held:(a??0)+(s??0),whole:!1,local:!1}}var cn=e=>e===void 0?"\u2013":ge(e*1e3);function _a({of:e}){let n=e.reasons??[],r=e.degraded??[],
o=n.length?"dead":r.length?"retrying":"done";return t("div",{class:`health ${o}`,role:"status",children:[t(ue,{kind:o,children:n.length?"not ready":r.length?"de\
graded":"healthy"}),n.length===0&&r.length===0&&t("span",{children:"Requests are served, and all parts work."}),t("ul",{children:[n.map(a=>t("li",{children:a},a)),
r.map(a=>t("li",{children:[t("strong",{children:a.part}),": ",a.reason,", ",t(R,{at:a.since})]},a.part))]})]})}var un=[["24h","24 hours",24,30],["1h","1 hour",1,
1],["7d","7 days",168,240]];function ya(){let[e,n]=h("24h"),[,r,o,a]=un.find(([l])=>l===e)??un[0],s=M(`forecast/${S.value}/${e}`,6e4,l=>{let c=a*6e4,d=Math.floor(
lt()/c)*c+c;return O("timers/forecast",{namespace:S.value,to:new Date(d+o*36e5-c).toISOString(),bucket:`${a}m`},l)}),i=t("div",{class:"segments",role:"group","a\
ria-label":"Range of the forecast",children:un.map(([l,c])=>t("button",{type:"button","aria-pressed":e===l,onClick:()=>{n(l)},children:c},l))});return t(E,{title:"\
Forecast",aside:i,wide:!0,children:t(H,{of:s,children:l=>{let c=Date.parse(l.from),d=l.counts.reduce((u,f)=>u+f,0),p=l.counts.map((u,f)=>{let m=c+f*a*6e4;return{
label:o>24?he(m).slice(5,16):ir(m),value:u,title:`${he(m)}: ${te(u,"timer")}`}});return t(y,{children:[t("p",{class:"muted",children:[te(d,"timer")," of ",S.value,
" due in the next ",r,l.truncated&&`, counted until ${he(l.completeBefore)}`]}),d===0?t(q,{title:"Nothing is due in this time.",command:"timerbus timer create h\
ello --in 1h",children:"Create a timer:"}):t(ur,{bars:p,every:Math.ceil(p.length/8),label:`Timers due in the next ${r}, for each ${a} minutes: ${d} in all`})]})}})})}
function Lt(e){return e.callbackUrl?Rt(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function ba(){let e=M(`next/${S.value}`,3e3,n=>O("timers/list",{namespace:S.
value,order:"due",limit:8},n));return t(E,{title:"Due next",aside:t("a",{href:A(["timers"]),children:"All timers"}),flush:!0,children:t(H,{of:e,children:({timers:n})=>n.
length===0?t(q,{title:"No timer waits.",command:"timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/",children:"Create one, here or with t\
he CLI:"}):t(re,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:n.map(r=>t("tr",{children:[t("td",{children:t(R,{at:r.dueAt,
only:"relative"})}),t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Lt(r)}),t("td",{children:t(Te,{status:r.
status})})]},r.uuid))})})})}function ka(){let e=M(`failed/${S.value}`,1e4,n=>O("timers/list",{namespace:S.value,status:"dead",limit:8},n));return t(E,{title:"De\
ad letters",aside:t("a",{href:A(["dead"]),children:"By reason"}),flush:!0,children:t(H,{of:e,children:({timers:n})=>n.length===0?t(q,{title:"No timer is dead.",
children:"Timers whose retry policy has ended appear here."}):t(re,{caption:"Some dead timers",head:["Timer","Target","Error"],children:n.map(r=>t("tr",{children:[
t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Lt(r)}),t("td",{class:"clip",title:r.lastError,children:r.
lastError})]},r.uuid+r.generation))})})})}function mr(){let e=M("health",5e3,()=>Qn()),{poll:n,series:r}=va(),o=n.data,a=o&&!o.whole?`namespace ${S.value}`:"clu\
ster";return t(z,{title:"Overview",children:[t(H,{of:e,children:s=>t(_a,{of:s})}),t(H,{of:n,children:s=>t(y,{children:[t("div",{class:"tiles",children:[t(G,{label:"\
Lateness p50",value:cn(s.lateness50),hint:"start of the attempt",kind:s.lateness50!==void 0&&s.lateness50>5?"warn":""}),t(G,{label:"Lateness p99",value:cn(s.lateness99),
hint:"last minute",kind:s.lateness99!==void 0&&s.lateness99>10?"warn":"",spark:r.lateness}),t(G,{label:"Fires",value:s.fires===void 0?"\u2013":`${Ie(s.fires)}/s`,
hint:"last minute",spark:r.fires}),t(G,{label:"Pending",value:s.pending===void 0?"\u2013":Ie(s.pending),hint:s.pending===void 0?"":P(s.pending),href:A(["timers"])}),
t(G,{label:"Backlog",value:s.overdue===void 0?"\u2013":Ie(s.overdue),hint:s.oldest?`oldest ${cn(s.oldest)}`:"overdue timers",kind:(s.oldest??0)>10?"warn":""}),t(
G,{label:"Dead",value:s.dead===void 0?"\u2013":Ie(s.dead),hint:"can be retried",kind:s.dead?"bad":"",href:A(["dead"])}),t(G,{label:"Paused, parked",value:s.held===
void 0?"\u2013":Ie(s.held),hint:a,href:A(["timers"],{status:"paused"})})]}),!s.local&&t("p",{class:"callout",children:s.whole?t(y,{children:["This process deliv\
ers no timers, so it has no lateness and fires. Dispatchers export them at ",t("code",{children:"/metrics"}),"; the Grafana dashboard shows all processes."]}):t(
y,{children:"Lateness and fires need the right to read all namespaces."})})]})}),t("div",{class:"grid",children:[t(ya,{}),t(ba,{}),t(ka,{})]})]})}var wa=50,xa=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];async function It(e,n,r){if(!e.correlationId){let{correlationId:a,...s}=e,{count:i,truncated:l}=await O("timers/count",s,n);return{n:i,more:l}}
let o=0;for(let a;;){let s=await O("timers/list",{...e,limit:1e3,cursor:a},n);if(r(o+=s.timers.length),a=s.nextCursor,!a)return{n:o,more:!1}}}function dn({timers:e,
caption:n}){return t(re,{caption:n,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{class:"id",
"data-label":"Timer",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{"data-label":"Status",children:t(Te,{status:r.status})}),t("td",{"data-la\
bel":"Due",children:t(R,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),t("td",{class:"clip","data-label":"Target",title:r.callbackUrl??r.topic,
children:Lt(r)}),t("td",{class:"num","data-label":"Attempts",children:r.attempts}),t("td",{class:"clip","data-label":"Last error",title:r.lastError,children:r.lastError??
t("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function fr(){let e=ee.value.query,n=e.get("status")??"",r=e.get("correlationId")??"",o=e.
get("dueFrom")??"",a=e.get("dueBefore")??"",s=e.get("cursor")??"",i=(n===""||n==="scheduled"||n==="retrying")&&!r&&e.get("order")!=="key",[l,c]=h(""),[d,p]=h(null),
u={namespace:S.value,status:n||void 0,correlationId:r||void 0,dueFrom:o||void 0,dueBefore:a||void 0},f=JSON.stringify([u,i,s]),m=M(f,s?1e4:3e3,_=>O("timers/list",
{...u,order:i?"due":"key",limit:wa,cursor:s||void 0},_)),g=M(r?"":JSON.stringify(u),r?0:3e4,_=>{let{correlationId:$,...I}=u;return O("timers/count",I,_)}),C=oe(
"write",S.value),b=_=>{let $={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:[
"Retry timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[I,L,pe]=$[_],{status:Q,...T}=u,k=_==="resume"?T:u;p({title:I,
verb:L,done:pe,path:`timers/${_}-matching`,filter:k,danger:_==="delete"||_==="purge",describe:t(y,{children:["All timers of ",t("strong",{children:S.value})," t\
hat this page\u2019s filter selects, not only those of the shown page."]}),count:(Z,D)=>It({...u,status:_==="resume"?"paused":u.status},Z,D)})},w=!!(n||r||o||a),
v=C&&t(y,{children:[(n===""||n==="scheduled"||n==="retrying")&&t(x,{onClick:()=>{b("pause")},children:"Pause all\u2026"}),(n===""||n==="paused")&&t(x,{onClick:()=>{
b("resume")},children:"Resume all\u2026"}),(n==="dead"||n==="parked")&&t(x,{onClick:()=>{b("retry")},children:"Retry all\u2026"}),(n==="dead"||n==="done")&&t(x,
{onClick:()=>{b("purge")},children:"Delete all\u2026"}),n!=="dead"&&n!=="done"&&w&&t(x,{onClick:()=>{b("delete")},children:"Delete all\u2026"}),t("a",{class:"bu\
tton primary",href:A(["new","timer"]),children:"Create timer"})]});return t(z,{title:"Timers",actions:v,children:[t("form",{class:"filters",role:"search",onSubmit:_=>{
_.preventDefault(),l.trim()&&ne(["timers",l.trim()])},children:[t("div",{class:"field",children:[t("label",{for:"open",children:"Open by id"}),t("input",{id:"op\
en","data-search":!0,type:"search",value:l,placeholder:"order-1842",spellcheck:!1,onInput:_=>{c(_.currentTarget.value)}})]}),t(se,{label:"Status",value:n,options:xa,
set:_=>{fe({status:_})}}),t(Me,{label:"Correlation id",value:r,set:_=>{fe({correlationId:_})}}),t(Me,{label:`Due from (${le.value==="utc"?"UTC":"local"})`,type:"\
datetime-local",value:Ne(o),set:_=>{fe({dueFrom:ce(_)})}}),t(Me,{label:"Due before",type:"datetime-local",value:Ne(a),set:_=>{fe({dueBefore:ce(_)})}}),(w||s)&&t(
x,{kind:"ghost",onClick:()=>{ne(["timers"])},children:"Clear"})]}),t(E,{flush:!0,wide:!0,children:t(H,{of:m,children:_=>t(y,{children:[_.timers.length===0?t(q,{
title:w||s?"No timer matches.":"There are no timers in this namespace.",command:w||s?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1\
:9000/ -n ${S.value}`,children:w||s?_.nextCursor?"This page is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or\
 with the CLI:"}):t(dn,{timers:_.timers,caption:"Timers"}),t("div",{class:"pager",children:[t("span",{class:"muted",role:"status",children:[r?"":g.data?`${g.data.
truncated?"at least ":""}${P(g.data.count)} in all`:"",i?(r?"":", ")+"the next due first":", in a fixed order"]}),t("span",{class:"pager-buttons",children:[s&&t(
"a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),_.nextCursor&&t("a",{class:"button",href:A(["timers"],{...Object.
fromEntries(e),cursor:_.nextCursor}),children:"Next page"})]})]})]})})}),d&&t(Ke,{action:d,close:()=>{p(null)},after:()=>{m.again(),g.again()}})]})}function Me({
label:e,value:n,set:r,type:o}){let[a,s]=h(n),[i,l]=h(n);i!==n&&(l(n),s(n));let c=()=>{a!==n&&r(a)};return t("div",{onFocusOut:c,onKeyDown:d=>{d.key==="Enter"&&(d.
preventDefault(),c())},children:t(N,{label:e,value:a,set:s,type:o,step:o?"1":void 0})})}var hr=5e3,Ca=500,Ta=20;function Sa(e,n){for(let r of n){let o=r.callbackUrl?Rt(r.callbackUrl):r.topic?`topic ${r.topic}`:"event",a=r.lastError??"",s=`${r.callbackUrl?
"u":"e"}\0${r.callbackUrl?o:""}\0${a}`,i=e.groups.get(s);i||(i={host:o,hasURL:!!r.callbackUrl,error:a,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,
newest:r.executeAt},e.groups.set(s,i)),i.count++,i.timers.length<Ta&&i.timers.push(r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=
r.executeAt)}e.read+=n.length}function gr(){let e=ee.value.query,n=e.get("correlationId")??"",r=e.get("dueFrom")??"",o=e.get("dueBefore")??"",a=S.value,s={namespace:a,
status:"dead",correlationId:n||void 0,dueFrom:r||void 0,dueBefore:o||void 0},i=JSON.stringify(s),[l,c]=h(),[d,p]=h(),[u,f]=h(!0),[m,g]=h(),[C,b]=h(null),[w,v]=h(
0),_=async(T,k,Z=!1)=>{let D=T?{groups:new Map([...T.groups].map(([X,ve])=>[X,{...ve,timers:[...ve.timers]}])),read:T.read,cursor:T.cursor}:{groups:new Map,read:0,
cursor:void 0},W=D.read+hr;f(!0);try{do{let X=await O("timers/list",{...s,limit:Ca,cursor:D.cursor},k);Sa(D,X.timers),D.cursor=X.nextCursor,Z||c({...D})}while(D.
cursor&&D.read<W);c({...D}),p(void 0)}catch(X){if(k.aborted)return;p(X instanceof F?X:new F(0,"UNEXPECTED",String(X)))}f(!1)};J(()=>{let T=new AbortController;return _(
void 0,T.signal,w>0),()=>{T.abort()}},[i,w]),J(()=>{if(ye.value!=="on"||C||(l?.read??0)>=hr)return;let T=setTimeout(()=>{document.hidden||v(k=>k+1)},1e4);return()=>{
clearTimeout(T)}},[w,ye.value,C,l?.read]);let $=(T,k)=>{let Z=k?{...s,callbackHost:k.hasURL?k.host:"",lastError:k.error||void 0}:{...s},D=`timers/${T}-matching`;
b({title:T==="retry"?"Retry dead timers":"Delete dead timers",verb:T==="retry"?"Retry":"Delete",done:T==="retry"?"started again":"removed from history",path:D,filter:Z,
danger:T==="purge",describe:k?t(y,{children:["All dead timers of ",t("strong",{children:a})," that call ",t("strong",{children:k.host})," and failed with ",t("q",
{children:k.error}),"."]}):t(y,{children:["All dead timers of ",t("strong",{children:a})," that this page\u2019s filter selects, also those that were not read yet."]}),
count:async(W,X)=>{let ve=0;for(let Ge;;){let{data:Xe}=await xe(D,{...Z,dryRun:!0,limit:1e3,cursor:Ge},W);if(X(ve+=Xe.matched),Ge=Xe.nextCursor,!Ge)return{n:ve,
more:!1}}}})},I=oe("write",a),L=l?[...l.groups].sort(([,T],[,k])=>k.count-T.count):[],pe=!!(n||r||o),Q=I&&L.length>0&&t(y,{children:[t(x,{kind:"primary",onClick:()=>{
$("retry")},children:"Retry all\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{$("purge")},children:"Delete all\u2026"})]});return t(z,{title:"Dead letters",actions:Q,
children:[t("form",{class:"filters",role:"search",onSubmit:T=>{T.preventDefault()},children:[t(Me,{label:"Correlation id",value:n,set:T=>{fe({correlationId:T})}}),
t(Me,{label:"Planned from",type:"datetime-local",value:Ne(r),set:T=>{fe({dueFrom:ce(T)})}}),t(Me,{label:"Planned before",type:"datetime-local",value:Ne(o),set:T=>{
fe({dueBefore:ce(T)})}}),pe&&t(x,{kind:"ghost",onClick:()=>{ne(["dead"])},children:"Clear"})]}),d&&t(me,{error:d,again:()=>{v(T=>T+1)}}),!l&&u&&t("div",{class:"\
skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})}),l&&L.length===0&&!u&&t(E,{children:t(q,{title:pe?"No dead timer matches.":"No timer\
 is dead.",children:pe?"Change the filter, or clear it.":t(y,{children:["Timers whose retry policy has ended appear here, with their payload, for the dead reten\
tion of the namespace. ",t("a",{href:A(["timers"],{status:"retrying"}),children:"Timers that are retried"})]})})}),l&&L.length>0&&t(y,{children:[t("p",{class:"m\
uted",role:"status",children:[te(l.read,"dead timer")," in ",te(L.length,"group"),", by host and reason",l.cursor&&", and more"]}),t("div",{class:"groups",children:L.
map(([T,k])=>t("section",{class:"card group","aria-label":`${k.host}: ${k.error}`,children:[t("div",{class:"group-head",children:[t("span",{class:"group-count",
children:P(k.count)}),t("div",{class:"group-text",children:[t("div",{children:[t("strong",{children:k.host})," ",k.status?t(ue,{kind:"dead",children:["HTTP ",k.
status]}):null]}),t("div",{class:"reason",children:k.error||"no reason"}),t("div",{class:"muted",children:["planned ",he(k.oldest),k.newest!==k.oldest&&` to ${he(
k.newest)}`]})]}),t("div",{class:"actions",children:[I&&t(x,{kind:"small",onClick:()=>{$("retry",k)},children:"Retry\u2026"}),I&&t(x,{kind:"small danger-ghost",
onClick:()=>{$("purge",k)},children:"Delete\u2026"}),t(x,{kind:"small ghost","aria-expanded":m===T,onClick:()=>{g(m===T?void 0:T)},children:[m===T?"Hide":"Show",
" timers"]})]})]}),m===T&&t(dn,{timers:k.timers,caption:`Dead timers of ${k.host}`}),m===T&&k.count>k.timers.length&&t("p",{class:"muted pad",children:["The fir\
st ",k.timers.length," of ",P(k.count),"."]})]},T))}),l.cursor&&t("p",{children:t(x,{disabled:u,onClick:()=>{_(l,new AbortController().signal)},children:u?"Read\
ing\u2026":"Read more"})})]}),C&&t(Ke,{action:C,close:()=>{b(null)},after:()=>{v(T=>T+1)}})]})}function vr(e){return e.cron?e.cron:e.every?`every ${j(e.every)}`:e.rrule?e.rrule:te(e.dates?.length??0,"date")}function _r(){let e=ee.value.query.get("status")??
"",n=ee.value.query.get("cursor")??"",r=S.value,o=M(`${r}/${e}/${n}`,5e3,a=>O("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:n||void 0},a));return t(
z,{title:"Schedules",actions:oe("write",r)&&t("a",{class:"button primary",href:A(["new","schedule"]),children:"Create schedule"}),children:[t("form",{class:"fil\
ters",role:"search",onSubmit:a=>{a.preventDefault()},children:t(se,{label:"Status",value:e,set:a=>{fe({status:a})},options:[["","All"],["active","Active"],["pau\
sed","Paused"],["parked","Parked"]]})}),t(E,{flush:!0,wide:!0,children:t(H,{of:o,children:a=>t(y,{children:[a.schedules.length===0?t(q,{title:e?`No schedule is ${e}\
.`:"There are no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,
children:!e&&"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):t(re,{caption:"Schedules",head:["Schedule","St\
atus","Occurs","Time zone","Next","Created"],stack:!0,children:a.schedules.map(s=>t("tr",{children:[t("td",{class:"id","data-label":"Schedule",children:t("a",{href:A(
["schedules",s.id]),children:s.id})}),t("td",{"data-label":"Status",children:t(Te,{status:s.status})}),t("td",{class:"clip","data-label":"Occurs",children:t("co\
de",{children:s.specs.map(vr).join("; ")})}),t("td",{"data-label":"Time zone",children:s.timeZone}),t("td",{"data-label":"Next",children:t(R,{at:s.nextAt})}),t(
"td",{class:"num","data-label":"Created",children:s.created})]},s.id))}),(a.nextCursor||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager\
-buttons",children:[n&&t("a",{class:"button",href:A(["schedules"],{status:e}),children:"First page"}),a.nextCursor&&t("a",{class:"button",href:A(["schedules"],{
status:e,cursor:a.nextCursor}),children:"Next page"})]})]})]})})})]})}var Aa={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks r\
epeat its local time; this is the first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function pn({of:e,timeZone:n}){return e.
length===0?t(q,{title:"There are no further occurrences."}):t(re,{caption:"Next occurrences",head:[`Local time (${n})`,"Instant","Remark"],stack:!0,children:e.map(
r=>t("tr",{children:[t("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),t("td",{"data-label":"Instant",children:t(R,{at:r.at})}),t("td",{"dat\
a-label":"Remark",children:r.remark?t(y,{children:[t(ue,{kind:"retrying",children:"DST"})," ",Aa[r.remark]]}):t("span",{class:"muted",children:"\u2013"})})]},r.
at))})}function yr({id:e}){let n=S.value,r=M(`schedule/${n}/${e}`,3e3,p=>O("schedules/get",{namespace:n,id:e},p)),o=r.data,a=M(`preview/${n}/${e}/${o?.version??
0}`,3e4,p=>O("schedules/preview",{namespace:n,id:e,limit:10},p)),s=M(`decisions/${n}/${e}`,5e3,p=>O("schedules/history",{namespace:n,id:e,limit:50},p)),[i,l]=h(
null);J(()=>(Ce.value=o?.timeZone??null,()=>{Ce.value=null}),[o?.timeZone]);let c=()=>{r.again(),s.again(),a.again()},d=o&&oe("write",n)&&o.status!=="ended"&&t(
y,{children:[t(x,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigger\u2026"}),o.status==="active"?t(x,{onClick:()=>{l("pause")},children:"Pause\u2026"}):
t(x,{onClick:()=>{l("resume")},children:"Resume\u2026"}),t(x,{onClick:()=>{l("backfill")},children:"Backfill\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{l("d\
elete")},children:"Delete\u2026"})]});return t(z,{title:e,crumb:t(y,{children:[t("a",{href:A(["schedules"]),children:"Schedules"})," / ",n]}),actions:d,children:[
t(H,{of:r,children:p=>t("div",{class:"grid",children:[t($a,{of:p}),t(E,{title:"Timer of an occurrence",children:t(Je,{value:p.timer,label:"Template"})}),t(E,{title:"\
Next occurrences",wide:!0,flush:!0,aside:a.data&&t("span",{class:"muted",children:["time zones ",a.data.zoneVersion]}),children:[p.status==="paused"&&t("p",{class:"\
callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),t(H,{of:a,children:u=>t(pn,{of:u.occurrences,timeZone:u.timeZone})})]}),
t(E,{title:"Decisions",wide:!0,flush:!0,children:t(H,{of:s,children:({decisions:u})=>u.length===0?t(q,{title:"No occurrence was due yet."}):t(re,{caption:"Decis\
ions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:u.map(f=>t("tr",{children:[t("td",{"data-label":"Occurrence",children:t(
R,{at:f.at})}),t("td",{"data-label":"Decision",children:t(ue,{kind:f.decision==="created"?"done":f.decision==="skipped"?"retrying":"paused",children:f.decision})}),
t("td",{"data-label":"Reason",children:f.reason??t("span",{class:"muted",children:"\u2013"})}),t("td",{class:"id","data-label":"Timer",children:f.timerId?t("a",
{href:A(["timers",f.timerId]),children:f.timerId}):t("span",{class:"muted",children:"\u2013"})})]},f.at+f.decidedAt+f.decision))})})})]})}),o&&i&&t(Pa,{of:o,action:i,
close:()=>{l(null)},after:c})]})}function $a({of:e}){return t(E,{title:"Definition",aside:t(Te,{status:e.status}),children:[e.pause&&t("div",{class:"callout",children:[
"Paused",e.pause.by&&` by ${e.pause.by}`," ",t(R,{at:e.pause.at}),e.pause.note&&`: ${e.pause.note}`]}),t(be,{of:[["Occurs",e.specs.map((n,r)=>t("div",{children:t(
"code",{children:vr(n)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&t(R,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&t(R,{at:e.start})],[
"Until",e.end&&t(R,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${j(e.catchUpWindow)}`:e.catchUp],["\
Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Version",e.version],["Updated",t(R,{at:e.updatedAt})]]})]})}
function Pa({of:e,action:n,close:r,after:o}){let[a,s]=h(""),[i,l]=h("keep"),c={namespace:e.namespace,id:e.id},d={close:r,after:o};switch(n){case"trigger":return t(
de,{...d,title:"Trigger",verb:"Trigger",path:"schedules/trigger",body:()=>c,done:`${e.id} has created an occurrence.`,children:t("p",{children:"Creates an occur\
rence now, in addition to the planned ones."})});case"pause":return t(de,{...d,title:"Pause",verb:"Pause",path:"schedules/pause",body:()=>({...c,note:a||void 0}),
done:`${e.id} is paused.`,children:[t("p",{children:"A paused schedule creates no occurrences."}),t(N,{label:"Note",value:a,set:s})]});case"resume":return t(de,
{...d,title:"Resume",verb:"Resume",path:"schedules/resume",body:()=>c,done:`${e.id} is resumed.`,children:t("p",{children:"The schedule continues with its next \
occurrence."})});case"delete":return t(de,{...d,title:"Delete",verb:"Delete",danger:!0,path:"schedules/delete",done:`${e.id} is deleted.`,after:()=>{ne(["schedu\
les"])},body:()=>({...c,pending:i,ifVersion:e.version}),children:t(se,{label:"Its timers that are not finished",value:i,set:l,options:[["keep","Keep them"],["de\
lete","Delete them"]]})});default:return t(Ea,{of:e,...d})}}function Ea({of:e,close:n,after:r}){let[o,a]=h(""),[s,i]=h(""),[l,c]=h(),[d,p]=h(""),[u,f]=h(!1),m=async()=>{
let g=ce(s),C=ce(o);if(!C||!g){c(new F(0,"INCOMPLETE","Enter both times."));return}f(!0),c(void 0);let b=0,w=0;try{do{let v=await O("schedules/backfill",{namespace:e.
namespace,id:e.id,from:C,to:g});b+=v.created,w+=v.kept,C=v.nextFrom,p(`${te(b,"occurrence")} created, ${w} existed${C?`, continuing at ${he(C)}`:""}.`)}while(C);
Fe(`${e.id}: ${te(b,"occurrence")} created, ${w} existed.`),n()}catch(v){c(v instanceof F?v:new F(0,"UNEXPECTED",String(v))),f(!1)}r()};return t(Le,{title:"Back\
fill",close:n,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},children:[t("p",{children:"Creates the occurrences of a past time range that do not exist.\
 They are delivered at once."}),t(N,{label:"From",type:"datetime-local",step:"1",value:o,set:a,required:!0}),t(N,{label:"Before",type:"datetime-local",step:"1",
value:s,set:i,required:!0,hint:"Not in the future."}),d&&t("p",{role:"status",class:"callout",children:d}),l&&t(me,{error:l}),t("div",{class:"dialog-foot",children:[
t(x,{onClick:n,children:"Close"}),t("button",{type:"submit",class:"button primary",disabled:u,children:u?"Working\u2026":"Backfill"})]})]})})}function br(e,n){return`curl${we.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${tr}/api/v1/${e} \\
  -d ${Dt(JSON.stringify(n,null,2))}`}function kr(e,n){let r=[...n,...S.value==="default"?[]:[["--namespace",S.value]]],o=e.at(-1)??"";return["timerbus "+(o.startsWith(
"-")?[...e.slice(0,-1),`--id=${o}`]:e).map(Dt).join(" "),...r.filter(([,s])=>s).map(([s,i])=>`  ${s} ${Dt(i)}`)].join(` \\
`)}function wr(e){if(!e.trim())return{};try{return{value:it(e)}}catch(n){return{error:`Not JSON: ${n.message}`}}}function mn(e){return Object.fromEntries(Object.
entries(e).filter(([,n])=>n!==void 0&&n!==""))}function xr({curl:e,cli:n}){return t(E,{title:"The same request",children:[t("h3",{children:"curl"}),t(Ft,{text:e,
label:"curl"}),t("h3",{children:"Command line"}),t(Ft,{text:n,label:"Command line"})]})}function Cr({send:e,label:n}){let[r,o]=h(),[a,s]=h(!1),i=async()=>{s(!0),
o(void 0);try{await e()}catch(l){o(l instanceof F?l:new F(0,"INCOMPLETE",l.message))}s(!1)};return t(y,{children:[r&&t(me,{error:r}),!oe("write",S.value)&&t("p",
{class:"callout",children:["You have no right to write in ",S.value,"."]}),t("button",{type:"button",class:"button primary",disabled:a||!oe("write",S.value),onClick:()=>{
i()},children:a?"Sending\u2026":n})]})}var Tr=[["fail","Refuse (409)"],["replace","Replace it"],["keep","Keep it"]];function Sr({children:e}){return t("details",
{class:"more",children:[t("summary",{children:"More settings"}),e]})}function Ar(){let[e,n]=h(""),[r,o]=h("in"),[a,s]=h("15m"),[i,l]=h(""),[c,d]=h(""),[p,u]=h(Intl.
DateTimeFormat().resolvedOptions().timeZone),[f,m]=h("http://127.0.0.1:9000/"),[g,C]=h('{"order": 1842}'),[b,w]=h(""),[v,_]=h(""),[$,I]=h(""),[L,pe]=h(""),[Q,T]=h(
"fail"),k=wr(g),Z=mn({namespace:S.value,id:e,executeIn:r==="in"?a:void 0,executeAt:r==="at"?ce(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,
timeZone:r==="local"?p:void 0,callbackUrl:f,payload:k.value,retryPolicy:b?{maxAttempts:Number(b)}:void 0,callbackTimeout:v,correlationId:$,flowKey:L,onConflict:Q}),
D=[["--in",r==="in"?a:""],["--at",r==="at"?ce(i)??"":""],["--at-local",String(Z.executeAtLocal??"")],["--time-zone",String(Z.timeZone??"")],["--callback-url",f],
["--payload",k.value===void 0?"":JSON.stringify(k.value)],["--max-attempts",b],["--callback-timeout",v],["--correlation-id",$],["--flow-key",L],["--on-conflict",
Q]],W=async()=>{if(k.error)throw new Error(k.error);if(r==="at"&&!ce(i))throw new Error("Enter the time completely.");let{data:X,late:ve}=await xe("timers/creat\
e",Z);Fe(ve?`${X.id} is replaced. An earlier delivery may have been sent.`:`${X.id} is created.`,ve?"warn":"ok"),ne(["timers",X.id])};return t(z,{title:"Create \
timer",crumb:t(y,{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",S.value]}),actions:t("a",{class:"button",href:A(["new","schedule"]),children:"Sc\
hedule instead"}),children:t("div",{class:"grid form",children:[t(E,{title:"Timer",children:[t(N,{label:"Id",value:e,set:n,required:!0,placeholder:"order-1842",
mono:!0,hint:"Unique in the namespace."}),t(se,{label:"When",value:r,set:o,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),
r==="in"&&t(N,{label:"Duration",value:a,set:s,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&t(N,{label:`Time (${le.value==="utc"?"UTC":"local"})`,type:"\
datetime-local",step:"1",value:i,set:l}),r==="local"&&t(y,{children:[t(N,{label:"Local time",type:"datetime-local",step:"1",value:c,set:d}),t(N,{label:"Time zon\
e",value:p,set:u,hint:"If the rules of the zone change, the timer moves with them."})]}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an event o\
n timerbus.fired."}),t(ct,{label:"Payload (JSON)",value:g,set:C,error:k.error}),t(se,{label:"If the id exists",value:Q,set:T,options:Tr}),t(Sr,{children:[t(N,{label:"\
Attempts, at most",type:"number",value:b,set:w,hint:"1 to 1000; by default those of the namespace."}),t(N,{label:"Callback timeout",value:v,set:_,placeholder:"3\
0s"}),t(N,{label:"Correlation id",value:$,set:I}),t(N,{label:"Flow key",value:L,set:pe,hint:"Timers with the same key share a limit of the namespace."})]}),t(Cr,
{send:W,label:"Create timer"})]}),t(xr,{curl:br("timers/create",Z),cli:kr(["timer","create",e||"order-1842"],D)})]})})}function $r(){let[e,n]=h(""),[r,o]=h("cro\
n"),[a,s]=h("0 8 * * MON-FRI"),[i,l]=h("15m"),[c,d]=h("FREQ=MONTHLY;BYDAY=-1FR"),[p,u]=h(Intl.DateTimeFormat().resolvedOptions().timeZone),[f,m]=h("http://127.0\
.0.1:9000/"),[g,C]=h(""),[b,w]=h("allow"),[v,_]=h("all"),[$,I]=h(""),[L,pe]=h("fail"),[Q,T]=h(),[k,Z]=h(),D=wr(g),W=r==="cron"?{cron:a}:r==="every"?{every:i}:{rrule:c},
X=r!=="every",ve=mn({namespace:S.value,id:e,specs:[W],timeZone:X?p:void 0,overlap:b,catchUp:v,count:$?Number($):void 0,timer:mn({callbackUrl:f,payload:D.value}),
onConflict:L}),Ge=[[`--${r}`,String(Object.values(W)[0])],["--time-zone",X?p:""],["--callback-url",f],["--payload",D.value===void 0?"":JSON.stringify(D.value)],
["--overlap",b],["--catch-up",v],["--count",$],["--on-conflict",L]],Xe=JSON.stringify({namespace:S.value,specs:[W],timeZone:X?p:void 0});J(()=>{let Ue=new AbortController,
Fr=setTimeout(()=>{O("schedules/preview",{...JSON.parse(Xe),limit:6},Ue.signal).then(ut=>{T(ut),Z(void 0)},ut=>{!Ue.signal.aborted&&ut instanceof F&&(Z(ut),T(void 0))})},
300);return()=>{clearTimeout(Fr),Ue.abort()}},[Xe]);let Or=async()=>{if(D.error)throw new Error(D.error);let{data:Ue}=await xe("schedules/create",ve);Fe(`${Ue.id}\
 is created.`),ne(["schedules",Ue.id])};return t(z,{title:"Create schedule",crumb:t(y,{children:[t("a",{href:A(["schedules"]),children:"Schedules"})," / ",S.value]}),
actions:t("a",{class:"button",href:A(["new","timer"]),children:"Timer instead"}),children:t("div",{class:"grid form",children:[t(E,{title:"Schedule",children:[t(
N,{label:"Id",value:e,set:n,required:!0,placeholder:"daily-report",mono:!0}),t(se,{label:"Occurs",value:r,set:o,options:[["cron","Cron expression"],["every","In\
terval"],["rrule","RRULE"]]}),r==="cron"&&t(N,{label:"Cron expression",value:a,set:s,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begi\
n with seconds."}),r==="every"&&t(N,{label:"Interval",value:i,set:l,hint:"At least 1s."}),r==="rrule"&&t(N,{label:"RRULE",value:c,set:d,mono:!0}),X&&t(N,{label:"\
Time zone",value:p,set:u}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an event on timerbus.fired."}),t(ct,{label:"Payload (JSON)",value:g,set:C,
error:D.error,rows:3}),t(se,{label:"If the id exists",value:L,set:pe,options:Tr}),t(Sr,{children:[t(se,{label:"If the earlier occurrence is not finished",value:b,
set:w,options:[["allow","Create the next one"],["skip","Leave the next one out"],["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),t(
se,{label:"After an outage",value:v,set:_,options:[["all","Create all of the last minute"],["last","Create the last one"],["none","Create none"]]}),t(N,{label:"\
Occurrences, at most",type:"number",value:$,set:I})]}),t(Cr,{send:Or,label:"Create schedule"})]}),t("div",{class:"column",children:[t(E,{title:"Next occurrences",
flush:!0,children:[k&&t(me,{error:k}),Q&&t(pn,{of:Q.occurrences,timeZone:Q.timeZone})]}),t(xr,{curl:br("schedules/create",ve),cli:kr(["schedule","create",e||"da\
ily-report"],Ge)})]})]})})}function Pr(){let e=M("namespaces",15e3,()=>Et()),[n,r]=h(!1);return t(z,{title:"Namespaces",actions:Ze("admin")&&t(x,{kind:"primary",onClick:()=>{r(!0)},children:"\
Create namespace\u2026"}),children:[t(E,{flush:!0,wide:!0,children:t(H,{of:e,children:o=>o.length===0?t(q,{title:"You may read no namespace.",command:"timerbus \
key list",children:"Ask an administrator for a grant such as read@default."}):t(re,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host concu\
rrency","Max. pending","Signed","Updated"],stack:!0,children:o.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Namespace",children:[t("a",{href:A(["na\
mespaces",a.name]),children:a.name})," ",a.deletingSince&&t(ue,{kind:"dead",children:"being deleted"})]}),t("td",{class:"num","data-label":"Shards",children:a.numShards}),
t("td",{"data-label":"History",children:j(a.settings.historyRetention)}),t("td",{"data-label":"Dead",children:j(a.settings.deadRetention)}),t("td",{class:"num",
"data-label":"Host concurrency",children:a.settings.hostConcurrency}),t("td",{class:"num","data-label":"Max. pending",children:a.settings.quota?.maxPending?P(a.
settings.quota.maxPending):t("span",{class:"muted",children:"no limit"})}),t("td",{"data-label":"Signed",children:a.settings.secrets?.length?"yes":t("span",{class:"\
muted",children:"no"})}),t("td",{"data-label":"Updated",children:t(R,{at:a.updatedAt,only:"relative"})})]},a.name))})})}),n&&t(Na,{close:()=>{r(!1)},after:e.again})]})}
function Na({close:e,after:n}){let[r,o]=h(""),[a,s]=h("small");return t(de,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?{name:r,preset:a}:
"Enter a name.",done:`${r} is created.`,close:e,after:n,children:[t(N,{label:"Name",value:r,set:o,required:!0}),t(se,{label:"Size",value:a,set:s,hint:"It can ne\
ver be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["xlarge","Below 1\
00,000,000 (4,096)"]]})]})}function Er({name:e}){let n=M(`namespace/${e}`,5e3,c=>O("namespaces/get",{name:e},c)),[r,o]=h(null),[a,s]=h(!1),i=c=>{o({title:`${c===
"pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},describe:c===
"pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:async(d,p)=>{
if(c==="resume")return It({namespace:e,status:"paused"},d,p);let[u,f]=await Promise.all(["scheduled","retrying"].map(m=>It({namespace:e,status:m},d,()=>{})));return{
n:(u?.n??0)+(f?.n??0),more:!!(u?.more||f?.more)}}})},l=n.data&&t(y,{children:[oe("write",e)&&t(x,{onClick:()=>{i("pause")},children:"Pause all timers\u2026"}),oe(
"write",e)&&t(x,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),oe("admin",e)&&t(x,{kind:"primary",onClick:()=>{s(!0)},children:"Edit\u2026"})]});
return t(z,{title:e,crumb:t("a",{href:A(["namespaces"]),children:"Namespaces"}),actions:l,children:[t(H,{of:n,children:c=>{let d=c.settings,p=d.retryPolicy;return t(
"div",{class:"grid",children:[t(E,{title:"Settings",aside:c.deletingSince&&t(ue,{kind:"dead",children:"being deleted"}),children:t(be,{of:[["Shards",c.numShards],
["Callback timeout",j(d.callbackTimeout)],["Retry",`${te(p.maxAttempts,"attempt")}, from ${j(p.initialInterval)}, \xD7 ${p.backoffMultiplier}, to ${j(p.maxInterval)}`],
["History",j(d.historyRetention)],["Dead timers",j(d.deadRetention)],["Payloads of done timers",d.keepPayload?j(d.keepPayload):"not kept"],["Final statuses",d.finalStatuses?.
join(", ")],["Event topics",d.eventTopics?.join(", ")],["On done",d.onDone&&t("code",{children:d.onDone})],["On dead",d.onDead&&t("code",{children:d.onDead})],[
"Headers",d.headers&&Object.keys(d.headers).join(", ")],["Version",c.version],["Updated",t(R,{at:c.updatedAt})]]})}),t(E,{title:"Limits",children:t(be,{of:[["Ca\
lls of one host",`${d.hostConcurrency} for each dispatcher`],["Pending timers",d.quota?.maxPending?P(d.quota.maxPending):"no limit"],["Creates",d.quota?.createsPerSecond?
`${P(d.quota.createsPerSecond)} per second`:"no limit"],["Payload",d.quota?.maxPayloadBytes?`${P(d.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(d.flows??
[]).map(u=>[`Flow ${u.pattern}`,[u.rate&&`${u.rate.count} per ${j(u.rate.per)}`,u.concurrency&&`${u.concurrency} at a time`].filter(Boolean).join(", ")])]})}),t(
E,{title:"Keys of signatures",flush:!0,wide:!0,children:d.secrets?.length?t(re,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:d.secrets.
map(u=>t("tr",{children:[t("td",{children:t("code",{children:u.id})}),t("td",{children:t(R,{at:u.createdAt})}),t("td",{children:u.expiresAt?t(R,{at:u.expiresAt}):
"never"})]},u.id))}):t(q,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with th\
e CLI:"})}),(d.callbackAuth||d.tls)&&t(E,{title:"Authentication of callbacks",children:t(be,{of:[["Type",d.callbackAuth?.type],["Token endpoint",d.callbackAuth?.
tokenUrl],["Client",d.callbackAuth?.clientId??d.callbackAuth?.username],["Own authorities",d.tls?.ca&&"yes"],["Client certificate",d.tls?.certificate&&"yes"]]})})]})}}),
r&&t(Ke,{action:r,close:()=>{o(null)},after:n.again}),a&&n.data&&t(Ba,{of:n.data,close:()=>{s(!1)},after:n.again})]})}function Ba({of:e,close:n,after:r}){let o=e.
settings,a={callbackTimeout:j(o.callbackTimeout),historyRetention:j(o.historyRetention),deadRetention:j(o.deadRetention),hostConcurrency:String(o.hostConcurrency),
maxPending:String(o.quota?.maxPending??"")},[s,i]=h(a),l=d=>p=>{i({...s,[d]:p})},c=()=>{let d={};for(let p of["callbackTimeout","historyRetention","deadRetentio\
n"])s[p]!==a[p]&&(d[p]=s[p]||null);return s.hostConcurrency!==a.hostConcurrency&&(d.hostConcurrency=s.hostConcurrency?Number(s.hostConcurrency):null),s.maxPending!==
a.maxPending&&(d.quota={...o.quota,maxPending:s.maxPending?Number(s.maxPending):null}),Object.keys(d).length?{name:e.name,settings:d,ifVersion:e.version}:"Nothi\
ng has changed."};return t(de,{title:`Edit ${e.name}`,verb:"Save",path:"namespaces/update",body:c,done:`${e.name} is updated.`,close:n,after:r,children:[t(N,{label:"\
Callback timeout",value:s.callbackTimeout,set:l("callbackTimeout"),hint:"1s to 5m"}),t(N,{label:"History retention",value:s.historyRetention,set:l("historyReten\
tion")}),t(N,{label:"Dead retention",value:s.deadRetention,set:l("deadRetention")}),t(N,{label:"Calls of one host for each dispatcher",type:"number",value:s.hostConcurrency,
set:l("hostConcurrency"),hint:"1 to 1024"}),t(N,{label:"Pending timers, at most",type:"number",value:s.maxPending,set:l("maxPending"),hint:"Empty: no limit"}),t(
"p",{class:"hint",children:["Empty fields get their default. All other settings: ",t("code",{children:["timerbus namespace update ",e.name," --help"]})]})]})}var Ra=50;function Da(e){if(!e.held)return"free";let n=sn(e.overdueFor??"");return n>=6e4?"l4":n>=1e4?"l3":n>=2e3?"l2":n>0?"l1":"l0"}var Oa=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Nr(){let e=S.value,n=M(`shards/${e}`,5e3,a=>O("shards/list",
{namespace:e},a)),[r,o]=h(Ra);return t(z,{title:"Shards",children:t(H,{of:n,children:({shards:a})=>{let s=a.filter(u=>!u.held).length,i=a.filter(u=>u.overdueFor),
l=Math.max(0,...i.map(u=>sn(u.overdueFor??""))),c=new Map;for(let u of a)u.held&&c.set(u.node??"",(c.get(u.node??"")??0)+1);let d=Math.max(1,...c.values()),p=lt();
return t(y,{children:[t("div",{class:"tiles",children:[t(G,{label:"Shards",value:P(a.length),hint:e}),t(G,{label:"Without an owner",value:P(s),kind:s?"warn":"",
hint:s?"no scheduler runs, or one just ended":"all are owned"}),t(G,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${ge(l)}`:
"none"}),t(G,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),t("div",{class:"grid",children:[t(E,{title:"Lag",wide:!0,aside:t("div",{class:"legend",children:Oa.
map(([u,f])=>t("span",{children:[t("i",{class:`cell ${u}`}),f]},u))}),children:t("div",{class:"heat",role:"img","aria-label":`${te(a.length,"shard")}: ${s} with\
out an owner, ${i.length} with overdue timers. The table below has each of them.`,children:a.map(u=>t("i",{class:`cell ${Da(u)}`,title:`shard ${u.shard}, partit\
ion ${u.partition}, ${u.held?u.node:"no owner"}${u.overdueFor?`, overdue for ${u.overdueFor}`:""}`},u.shard))})}),t(E,{title:"Balance",wide:!0,children:c.size===
0?t(q,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):t("ul",{class:"balance",children:[...c].sort(([u],[f])=>u<
f?-1:1).map(([u,f])=>t("li",{children:[t("span",{class:"clip",children:u}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${f/d*100}\
%`}})}),t("span",{class:"num",children:te(f,"shard")})]},u))})}),t(E,{title:"Every shard",wide:!0,flush:!0,children:[t(re,{caption:"Shards",head:["Shard","Parti\
tion","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:a.slice(0,r).map(u=>t("tr",{children:[t("td",{class:"num","data-label":"Shard",children:u.
shard}),t("td",{class:"num","data-label":"Partition",children:u.partition}),t("td",{class:"clip","data-label":"Owner",children:u.held?u.node:t(ue,{kind:"retryin\
g",children:"none"})}),t("td",{"data-label":"Claimed",children:t(R,{at:u.claimedAt,only:"relative"})}),t("td",{"data-label":"Watermark",children:u.watermark?t("\
time",{dateTime:u.watermark,title:u.watermark,children:[ge(Math.max(0,p-Date.parse(u.watermark)))," behind"]}):t("span",{class:"muted",children:"\u2013"})}),t("\
td",{"data-label":"Next due",children:t(R,{at:u.nextDueAt,only:"relative"})}),t("td",{class:"num","data-label":"Overdue for",children:u.overdueFor??t("span",{class:"\
muted",children:"\u2013"})})]},u.shard))}),a.length>r&&t("div",{class:"pager",children:[t("span",{class:"muted",children:[r," of ",P(a.length)]}),t(x,{onClick:()=>{
o(r+500)},children:"Show more"})]})]})]})]})}})})}function Fa(){let e=ie([]),n=S.value,r=M(`callbacks/${n}`,3e3,async()=>{let a=new Ve(await $t()),s=e.current;for(s.push(a);s.length>2&&a.at-s[1].at>6e4;)s.shift();
let i=s.length>1?s[0]:void 0,l=c=>a.quantile(c,"dispatcher_callback_seconds",i,{namespace:n})??a.quantile(c,"dispatcher_callback_seconds",void 0,{namespace:n});
return{called:a.sum("dispatcher_hosts",{state:"called"}),queued:a.sum("dispatcher_hosts",{state:"queued"}),open:a.sum("dispatcher_hosts",{state:"open"}),inFlight:a.
sum("dispatcher_in_flight"),p50:l(.5),p99:l(.99),results:[...a.by("dispatcher_callbacks_total","result",{namespace:n})].filter(([,c])=>c>0)}}),o=a=>a===void 0?"\
\u2013":ge(a*1e3);return t(H,{of:r,children:a=>a.called===void 0?t("p",{class:"callout",children:["This process delivers no timers, so it knows no hosts. Dispat\
chers export their figures at ",t("code",{children:"/metrics"}),"."]}):t(y,{children:[t("div",{class:"tiles",children:[t(G,{label:"Hosts called",value:P(a.called),
hint:"with calls in flight"}),t(G,{label:"Hosts with a queue",value:P(a.queued??0),hint:"timers wait for a permit",kind:a.queued?"warn":""}),t(G,{label:"Open ci\
rcuits",value:P(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),t(G,{label:"In flight",value:P(a.inFlight??0),hint:"deliveries of this process"}),
t(G,{label:"Callback p50",value:o(a.p50),hint:n}),t(G,{label:"Callback p99",value:o(a.p99),hint:"last minute"})]}),a.results.length>0&&t(E,{title:`Answers of ${n}\
 since the start of this process`,wide:!0,children:t("div",{class:"chips",children:a.results.map(([s,i])=>t("span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":
"dead"}`,children:[s," ",t("strong",{children:P(i)})]},s))})})]})})}function La(e){let n=e.limit;return n?[n.rate&&`${P(n.rate.count)} per ${j(n.rate.per)}`,n.concurrency&&
`${P(n.concurrency)} at a time`].filter(Boolean).join(", "):"no pattern matches"}function Br(){let e=S.value,n=ee.value.query.get("after")??"",r=M(`flows/${e}/${n}`,
3e3,o=>O("flows/list",{namespace:e,after:n||void 0,limit:100},o));return t(z,{title:"Targets",children:[Ze("read")?t(Fa,{}):t("p",{class:"callout",children:"The\
 figures of hosts need the right to read all namespaces."}),t(E,{title:"Flow keys",flush:!0,wide:!0,children:t(H,{of:r,children:o=>t(y,{children:[o.flows.length===
0?t(q,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e} --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key\
 share a limit. Set limits with the CLI:"}):t(re,{caption:"Flow keys",head:["Flow key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:o.
flows.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Flow key",children:a.flowKey}),t("td",{"data-label":"Limit",children:La(a)}),t("td",{class:"num",
"data-label":"Running",children:P(a.running)}),t("td",{class:"num","data-label":"Waiting",children:P(a.waiting)}),t("td",{class:"num","data-label":"Backlog",children:P(
a.backlog)}),t("td",{class:"num","data-label":"Dispatchers",children:P(a.dispatchers)})]},a.flowKey))}),(o.next||n)&&t("div",{class:"pager",children:[t("span",{}),
t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(["targets"]),children:"First page"}),o.next&&t("a",{class:"button",href:A(["targets"],
{after:o.next}),children:"Next page"})]})]})]})})})]})}function Dr({id:e}){let n=S.value,r=M(`timer/${n}/${e}`,2e3,d=>O("timers/get",{namespace:n,id:e},d)),o=M(`history/${n}/${e}`,3e3,d=>O("timers/history",{namespace:n,
id:e,limit:200},d)),[a,s]=h(null),i=r.data,l=()=>{r.again(),o.again()},c=i&&oe("write",n)&&t(y,{children:[i.status==="dead"||i.status==="parked"||i.status==="do\
ne"?t(x,{kind:"primary",onClick:()=>{s("retry")},children:"Retry\u2026"}):t(y,{children:[i.status!=="paused"&&t(x,{kind:"primary",onClick:()=>{s("run")},children:"\
Run now\u2026"}),i.status==="paused"?t(x,{onClick:()=>{s("resume")},children:"Resume\u2026"}):t(x,{onClick:()=>{s("pause")},children:"Pause\u2026"})]}),i.status!==
"dead"&&i.status!=="done"&&t(y,{children:[t(x,{onClick:()=>{s("update")},children:"Update\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{s("delete")},children:"\
Delete\u2026"})]})]});return t(z,{title:e,crumb:t(y,{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",n]}),actions:c,children:[t(H,{of:r,children:d=>t(
"div",{class:"grid",children:[t(Ia,{of:d}),t(Ma,{of:d}),t(E,{title:"Attempts",wide:!0,children:t(H,{of:o,children:({attempts:p})=>t(Ua,{attempts:p,of:d})})})]})}),
r.error?.status===404&&t(q,{title:"This timer does not exist, or its history has expired.",children:t("a",{href:A(["timers"]),children:["All timers of ",n]})}),
i&&a&&t(qa,{of:i,action:a,close:()=>{s(null)},after:l})]})}function Ia({of:e}){let n=e.retryPolicy,r=e.status==="done"||e.status==="dead";return t(E,{title:"Sta\
te",aside:t(Te,{status:e.status}),children:[e.lastError&&t("div",{class:"callout bad",children:[t("strong",{children:e.lastStatusCode?`HTTP ${e.lastStatusCode}`:
"Last error"})," ",e.lastError]}),e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(R,{at:e.pause.at}),e.pause.note&&`:\
 ${e.pause.note}`]}),t(be,{of:[["Due",r?void 0:t(R,{at:e.dueAt})],["Execute at",t(R,{at:e.executeAt})],["Local time",e.executeAtLocal&&`${e.executeAtLocal.replace(
"T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&t(R,{at:e.executedAt})],["Attempts",`${e.attempts} of ${n.maxAttempts}`],["Retry",`from ${j(n.initialInterval)}\
, \xD7 ${n.backoffMultiplier}, to ${j(n.maxInterval)}`+(n.maxAttemptsDuration&&n.maxAttemptsDuration!=="0s"?`, for ${j(n.maxAttemptsDuration)}`:"")],["Window",e.
window],["Expires",e.expiresAt&&t(R,{at:e.expiresAt})],["Flow key",e.flowKey&&t("code",{children:e.flowKey})],["On done",e.onDone&&t("code",{children:e.onDone})],
["On dead",e.onDead&&t("code",{children:e.onDead})],["Correlation id",t("a",{href:A(["timers"],{correlationId:e.correlationId}),children:t("code",{children:e.correlationId})})],
["Created",t(R,{at:e.createdAt})],["Updated",t(R,{at:e.updatedAt})],["Generation",t("code",{children:e.generation})],["UUID",t("code",{children:e.uuid})]]})]})}
function Ma({of:e}){let n=!$e.hidePayloads,r=t("p",{class:"muted",children:"Hidden by the settings of the server."});return t(E,{title:"Request",children:[t(be,
{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&t("span",{class:"url",children:[t("code",{children:e.
callbackUrl})," ",t(Ot,{text:e.callbackUrl})]})],["Topic",e.topic&&t("code",{children:e.topic})],["Key",e.key&&t("code",{children:e.key})],["Timeout",j(e.callbackTimeout)],
["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&t(y,{children:[t("h3",{children:"Headers"}),n?t(be,{of:Object.entries(e.headers).
map(([o,a])=>[o,t("code",{children:a})])}):r]}),t("h3",{children:"Payload"}),n?e.payload!==void 0?t(Je,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?
t(Je,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?t(Je,{value:e.request.bodyBase64,label:"Body, base64"}):t("p",{class:"muted",children:e.
status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}var Rr={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"\
dead",expired:"parked"};function Ua({attempts:e,of:n}){if(e.length===0)return t(q,{title:"No attempt has ended yet.",children:n.status==="scheduled"&&t(y,{children:[
"The first one begins ",t(R,{at:n.dueAt}),"."]})});let r=a=>Date.parse(a.finishedAt)-Date.parse(a.startedAt),o=Math.max(1,...e.map(r));return t("ol",{class:"tim\
eline",children:e.map(a=>t("li",{class:Rr[a.outcome],children:[t("div",{class:"timeline-head",children:[t(ue,{kind:Rr[a.outcome],children:a.outcome}),t("strong",
{children:["Attempt ",a.attempt]}),t(R,{at:a.startedAt}),t("span",{class:"muted",children:[ge(Date.parse(a.startedAt)-Date.parse(a.executeAt))," after its time"]})]}),
t("div",{class:"timeline-body",children:[t("span",{children:[n.callbackUrl?t(y,{children:[t("code",{children:n.request?.method??"POST"})," \u2192 "]}):"publishe\
d \u2192 ",a.statusCode?t("strong",{children:["HTTP ",a.statusCode]}):a.error?"no answer":"accepted"]}),t("span",{class:"meter","aria-hidden":"true",children:t(
"span",{style:{width:`${Math.max(1,r(a)/o*100)}%`}})}),t("span",{class:"num",children:ge(r(a))})]}),a.error&&t("p",{class:"timeline-error",children:a.error}),a.
nextAt&&t("p",{class:"muted",children:["Next attempt: ",t(R,{at:a.nextAt})]})]},a.generation+a.attempt+a.startedAt))})}function qa({of:e,action:n,close:r,after:o}){
let[a,s]=h(""),[i,l]=h("deliver"),[c,d]=h(""),p={namespace:e.namespace,id:e.id,ifGeneration:e.generation},u={close:r,after:o};switch(n){case"run":return t(de,{...u,
title:"Run now",verb:"Run now",path:"timers/run-now",body:()=>p,done:`${e.id} runs now.`,children:t("p",{children:"The timer becomes due at once, as a new run o\
f attempts."})});case"pause":return t(de,{...u,title:"Pause",verb:"Pause",path:"timers/pause",body:()=>({...p,note:a||void 0}),done:`${e.id} is paused.`,children:[
t("p",{children:"A paused timer is not delivered until it is resumed."}),t(N,{label:"Note",value:a,set:s,hint:"Why it is paused; shown to everyone who may read \
it."})]});case"resume":return t(de,{...u,title:"Resume",verb:"Resume",path:"timers/resume",body:()=>({...p,overdue:i}),done:`${e.id} is resumed.`,children:t(se,
{label:"If its time has passed",value:i,set:l,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"retry":return t(de,{...u,title:"Retry",verb:"\
Retry",path:"timers/retry",body:()=>({...p,executeIn:c||void 0}),done:`${e.id} is scheduled again.`,children:[t("p",{children:["The timer starts again at attemp\
t 1",e.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),t(N,{label:"Delay",value:c,set:d,placeholder:"0s",hint:"Such\
 as 10m; now if it is empty."})]});case"delete":return t(de,{...u,title:"Delete",verb:"Delete",danger:!0,path:"timers/delete",body:()=>p,done:`${e.id} is delete\
d.`,after:()=>{ne(["timers"])},children:t("p",{children:["Delete ",t("code",{children:e.id}),"? It is not delivered any more."]})});default:return t(Ha,{of:e,...u})}}
function Ha({of:e,close:n,after:r}){let o={at:Ne(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?"":JSON.stringify(e.payload,null,2)},[a,s]=h(o.at),
[i,l]=h(o.url),[c,d]=h(o.payload);return t(de,{title:"Update",verb:"Save",path:"timers/update",body:()=>{let u={};if(a!==o.at){let f=ce(a);if(!f)return"Enter th\
e time completely.";u.executeAt=f}if(i!==o.url&&(u.callbackUrl=i||null),c!==o.payload)try{u.payload=c.trim()?it(c):null}catch(f){return`The payload is not JSON:\
 ${f.message}`}return Object.keys(u).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.generation,...u}},done:`${e.id} is updated.`,
close:n,after:r,children:[t(N,{label:"Time",type:"datetime-local",step:"1",value:a,set:s}),t(N,{label:"Callback URL",value:i,set:l,mono:!0}),$e.hidePayloads?t("\
p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):t(ct,{label:"Payload (JSON)",value:c,set:d,rows:8}),t("p",{class:"hint",children:"\
Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var hn=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function ja(){let[e="overview",n,r]=ee.value.path,o=`${e}/${S.value}/${n??""}`;switch(e){case"overview":return t(mr,{},o);case"\
timers":return n===void 0?t(fr,{},o):t(Dr,{id:n},o);case"dead":return t(gr,{},o);case"schedules":return n===void 0?t(_r,{},o):t(yr,{id:n},o);case"namespaces":return n===
void 0?t(Pr,{}):t(Er,{name:n},n);case"targets":return t(Br,{},o);case"shards":return t(Nr,{},o);case"new":return n==="schedule"?t($r,{},o):t(Ar,{},o+(r??""));default:
return t(z,{title:"Not found",children:t(q,{title:"There is no such page.",children:t("a",{href:A(["overview"]),children:"Overview"})})})}}function za({reason:e}){
let[n,r]=h(""),[o,a]=h(),[s,i]=h(!1);J(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=we.value;i(!0),a(void 0),St(n.trim());try{await Pt()}catch(d){
St(c),a(d instanceof F?d:new F(0,"UNEXPECTED",String(d)))}i(!1)};return t("main",{class:"sign-in",children:t("form",{class:"card",onSubmit:c=>{c.preventDefault(),
l()},children:[t("h1",{children:[t(gn,{})," Timerbus"]}),t("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the iden\
tity provider."}),o?t(me,{error:o}):we.value&&t("div",{class:"error",role:"alert",children:t("p",{children:e})}),t("div",{class:"field",children:[t("label",{for:"\
token",children:"Token"}),t("input",{id:"token",type:"password",value:n,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.
value)}}),t("p",{class:"hint",id:"token-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",t("code",{children:" timer\
bus key create ui --grant read@*"}),"."]})]}),t("button",{type:"submit",class:"button primary block",disabled:s,children:s?"Checking\u2026":"Sign in"})]})})}var gn=()=>t(
"svg",{class:"mark",viewBox:"0 0 32 32","aria-hidden":"true",children:[t("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),t("circle",{cx:"16",cy:"16",r:"\
9",class:"mark-line"}),t("path",{d:"M16 10.5V16l4 2.6",class:"mark-line"})]});function Za({close:e}){return t(Le,{title:"Keyboard",close:e,children:[t("dl",{class:"\
facts keys",children:[hn.map(([,n,r])=>t("div",{children:[t("dt",{children:[t("kbd",{children:"g"})," ",t("kbd",{children:r})]}),t("dd",{children:n})]},r)),t("d\
iv",{children:[t("dt",{children:t("kbd",{children:"c"})}),t("dd",{children:"Create a timer"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"/"})}),t(
"dd",{children:"Search or filter"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"l"})}),t("dd",{children:"Live updates on or off"})]}),t("div",{children:[
t("dt",{children:t("kbd",{children:"?"})}),t("dd",{children:"This list"})]})]}),t("label",{class:"check",children:[t("input",{type:"checkbox",checked:Bt.value===
"on",onChange:n=>{Bt.value=n.currentTarget.checked?"on":"off"}}),"Use these keys"]})]})}var fn=0;function Wa(e){J(()=>{let n=r=>{let o=r.target;if(r.ctrlKey||r.
metaKey||r.altKey||o.closest("input, textarea, select, dialog, [contenteditable]"))return;if(r.key==="?"){e();return}if(Bt.value==="off")return;let a=Date.now()-
fn<1500;if(fn=0,a){let s=hn.find(([,,i])=>i===r.key);s&&ne([s[0]])}else if(r.key==="g")fn=Date.now();else if(r.key==="c")ne(["new","timer"]);else if(r.key==="l")
ye.value=ye.value==="on"?"off":"on";else if(r.key==="/"){let s=document.querySelector("[data-search]");s&&(r.preventDefault(),s.focus())}};return addEventListener(
"keydown",n),()=>{removeEventListener("keydown",n)}},[])}function Ja(){let[e,n]=h(!1),[r,o]=h(!1);Wa(()=>{o(!0)}),J(()=>{Et().catch(()=>{})},[Pe.value?.name]);let[
a="overview"]=ee.value.path;J(()=>{n(!1)},[ee.value]);let s=[...new Set([S.value,...an.value.map(c=>c.name)])].sort(),i=c=>{ee.value.path.length>1&&a!=="new"?ne(
[a],{ns:c}):fe({ns:c})};return t(y,{children:[t("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"Skip to\
 the content"}),t("header",{children:[t(x,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{n(!e)},children:"\u2630"}),
t("a",{class:"brand",href:A(["overview"]),children:[t(gn,{}),t("span",{children:"Timerbus"})]}),t("label",{class:"sr",for:"ns",children:"Namespace"}),t("select",
{id:"ns",class:"namespace",value:S.value,onChange:c=>{i(c.currentTarget.value)},children:s.map(c=>t("option",{value:c,selected:c===S.value,children:c},c))}),t("\
div",{class:"spacer"}),$e.readOnly&&t("span",{class:"badge paused",children:"read-only"}),t("label",{class:"sr",for:"zone",children:"Time zone"}),t("select",{id:"\
zone",value:le.value,onChange:c=>{le.value=c.currentTarget.value},children:[t("option",{value:"local",selected:le.value==="local",children:"Local time"}),t("opt\
ion",{value:"utc",selected:le.value==="utc",children:"UTC"}),t("option",{value:"schedule",selected:le.value==="schedule",children:["Schedule",Ce.value?` (${Ce.value}\
)`:"\u2019s zone"]})]}),t(x,{kind:"ghost live","aria-pressed":ye.value==="on",title:"Live updates",onClick:()=>{ye.value=ye.value==="on"?"off":"on"},children:[t(
"span",{class:"dot"}),"Live"]}),t("label",{class:"sr",for:"theme",children:"Colours"}),t("select",{id:"theme",value:Ee.value,onChange:c=>{Ee.value=c.currentTarget.
value},children:[t("option",{value:"auto",selected:Ee.value==="auto",children:"Auto"}),t("option",{value:"light",selected:Ee.value==="light",children:"Light"}),
t("option",{value:"dark",selected:Ee.value==="dark",children:"Dark"})]})]}),t("div",{class:"frame",children:[t("nav",{id:"nav","aria-label":"Pages",class:e?"ope\
n":"",children:[t("ul",{children:hn.map(([c,d])=>t("li",{children:t("a",{href:A([c]),"aria-current":a===c?"page":void 0,children:d})},c))}),t("div",{class:"nav-\
foot",children:[t("div",{children:Pe.value?.name==="anyone"?"no credential required":Pe.value?.name}),we.value&&t(x,{kind:"small",onClick:()=>{St(""),Pe.value=null,
Pt().catch(()=>{})},children:"Sign out"}),t(x,{kind:"small",onClick:()=>{o(!0)},children:"Keyboard"}),t("div",{class:"version",children:[$e.version," \xB7 ",t("\
a",{href:"licenses.txt",children:"licences"})]})]})]}),t("main",{id:"main",children:t(ja,{})})]}),t("div",{class:"notices",role:"status","aria-live":"polite",children:We.
value.map(c=>t("div",{class:`notice ${c.kind}`,children:[c.text,t(x,{kind:"icon","aria-label":"Dismiss",onClick:()=>{on(c.id)},children:"\u2715"})]},c.id))}),r&&
t(Za,{close:()=>{o(!1)}})]})}function Ka(){let[e,n]=h(),r=()=>{n(void 0),Pt().catch(o=>{o instanceof F&&o.status!==401&&n(o)})};return J(r,[]),st.value!==null?t(
za,{reason:st.value}):e?t("main",{class:"sign-in",children:t("div",{class:"card",children:[t("h1",{children:[t(gn,{})," Timerbus"]}),t(me,{error:e,again:r})]})}):
Pe.value?t(Ja,{}):t("main",{class:"sign-in","aria-busy":"true"})}Pn(t(Ka,{}),document.getElementById("app"));
